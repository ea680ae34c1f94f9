import { expect, test } from 'vitest'
import { prepareAbort } from '../../src/engine/abort.ts'
import { giveOrder } from '../../src/engine/give-order.ts'
import { listLedgers } from '../../src/engine/ledger-store.ts'
import { readOpenRuns } from '../../src/engine/open-runs.ts'
import type { LedgerHeader } from '../../src/journal/ledger.ts'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'
import { PLAIN_SETTINGS, plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { openStage } from './stage.ts'

/* Orders and other commands than one upgrade alone, as stories. */

const V2 = { images: [{ container: 'app', image: imageOf('v2') }] }
const select = { refs: [{ kind: 'StatefulSet', name: NAME } as const] }

const isIn =
  (state: string) =>
  ({ events }: Actor): boolean =>
    events.some((event) => event.type === 'podState' && event.to === state)

async function headers({ ask, client }: Stage): Promise<LedgerHeader[]> {
  return (await ask(listLedgers(client, NAMESPACE))).flatMap((found) => (found.kind === 'read' ? [found.ledger.header] : []))
}

function templateImage({ world: { server } }: Stage): string {
  const found = server.store.list('statefulsets.apps', NAMESPACE)[0]! as unknown as {
    spec: { template: { spec: { containers: { name: string; image: string }[] } } }
  }
  return found.spec.template.spec.containers.find(({ name }) => name === 'app')!.image
}

const restores = ({ history }: Stage) => history.filter((entry) => entry.type === 'effect' && entry.effect === 'restore')

test('a pod that an earlier process has patched is proven, also by a command that names no image', async () => {
  const stage = await openStage(plainScene({ preStopMs: 12_000, graceSeconds: 30 }))
  const first = stage.start(V2)
  await stage.until(() => isIn('restarting')(first))
  first.interrupt()
  await stage.until(() => first.end !== undefined)
  expect(first.end).toMatchObject({ outcome: 'interrupted' })
  // The template has the image already: all that is asked for is that the pods have it too.
  const second = stage.start()
  const serves = () =>
    stage.history.find((entry) => entry.type === 'container' && entry.what === 'serving' && entry.image === V2.images[0]!.image)
  await stage.until(() => second.end !== undefined && serves() !== undefined)
  expect(second.end).toMatchObject({ outcome: 'done' })
  expect(restores(stage).map(({ at }) => at > serves()!.at)).toEqual([true])
})
