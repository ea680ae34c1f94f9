import { expect, test } from 'vitest'
import { listLedgers } from '../../src/engine/ledgers/list-ledgers.ts'
import { readOpenRuns } from '../../src/engine/orders/open-runs.ts'
import { prepareRun } from '../../src/engine/run.ts'
import type { KubeClient, PatchOperation } from '../../src/kube/client.ts'
import { KubeError } from '../../src/kube/errors.ts'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'
import { PLAIN_SETTINGS, plainBalancer, plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { isIn, openStage } from './stage.ts'
import { outcomeOf, upgradeTo } from './story.ts'

/*
 * The connection breaks on the last write of a process to its ledger. The process gives the Lease back, and the write arrives while the
 * next owner is at work. The ledger must tell the two apart, even where the next owner has nothing to change.
 */

const REQUEST = upgradeTo('v2')

interface Late {
  actor: Actor
  /** Lets the last write arrive, as it was first sent. */
  arrive(): Promise<unknown>
}

/** Starts a run whose last writes to the ledger are held, including repeated ones. */
async function startLate(stage: Stage, settings: typeof PLAIN_SETTINGS): Promise<Late> {
  const underWay: (() => Promise<unknown>)[] = []
  const written = new Set<string>()
  const request = { ...REQUEST, settings }
  const actor = stage.start(request, (ports) => {
    const { client } = ports
    const patch: KubeClient['patch'] = (path, operations, options) => {
      const isLast = path.includes('/configmaps/') && JSON.stringify(operations).includes('accounts')
      if (!isLast) return client.patch(path, operations, options)
      written.add(JSON.stringify(operations))
      underWay.push(() => stage.client.patch(path, operations as PatchOperation[]))
      return Promise.reject(new KubeError('connection reset', { kind: 'ambiguous', method: 'PATCH', path }))
    }
    return prepareRun(request, { ...ports, client: { ...client, patch } })
  })
  await stage.until(() => actor.end !== undefined)
  // The write is sent again, each time unchanged.
  expect(written.size).toBe(1)
  return { actor, arrive: () => stage.ask(underWay[0]!()) }
}

const REFUSED = { status: 422 }
const LONG = { longestRequestMs: 9_000 }
const stateOf = (stage: Stage, pod: string) => stage.world.balancers.get('edge')!.state(pod)!.admin

test('that nothing is drained for a pod is said of none that the next owner has drained', async () => {
  const stage = await openStage(plainScene({ pods: 2, balancers: [plainBalancer(LONG)] }))
  const pod = `${NAME}-1`
  const late = await startLate(stage, { ...PLAIN_SETTINGS, drainDeadlineMs: 1_000 })
  expect(late.actor.end?.outcome).toBe('deadline')
  const second = stage.start(REQUEST)
  await stage.until(() => isIn('emptying', pod)(second))
  await expect(late.arrive()).rejects.toMatchObject(REFUSED)
  second.host.kill()
  stage.world.cluster.deletePod(NAMESPACE, pod)
  await stage.pass(30_000)
  expect(await outcomeOf(stage, stage.start(REQUEST))).toBe('done')
  expect(stateOf(stage, pod)).toBe('ready')
})

test('control: where it arrives before the next owner begins, that goes by it', async () => {
  const stage = await openStage(plainScene({ pods: 2, balancers: [plainBalancer(LONG)] }))
  const late = await startLate(stage, { ...PLAIN_SETTINGS, drainDeadlineMs: 1_000 })
  await late.arrive()
  const [found] = await stage.ask(listLedgers(stage.client, NAMESPACE))
  expect(found?.kind === 'read' && Array.from(found.ledger.entries.values(), ({ idle }) => idle)).toEqual([true, true])
  expect(await outcomeOf(stage, stage.start(REQUEST))).toBe('done')
})

test('that the run is over is said of none that is gone on with: it stays open, and an abort finds it', async () => {
  const stage = await openStage(plainScene({ pods: 2, balancers: [plainBalancer(LONG)] }))
  const pod = `${NAME}-0`
  const late = await startLate(stage, PLAIN_SETTINGS)
  expect(late.actor.end?.outcome).toBe('done')
  const byHand = { op: 'replace', path: '/spec/containers/0/image', value: imageOf('v1') } as const
  await stage.ask(stage.client.patch(`/api/v1/namespaces/${NAMESPACE}/pods/${pod}`, [byHand]))
  await stage.pass(5_000)
  const second = stage.start(REQUEST)
  await stage.until(() => isIn('emptying', pod)(second))
  await expect(late.arrive()).rejects.toMatchObject(REFUSED)
  const open = await stage.ask(readOpenRuns(stage.client, { namespace: NAMESPACE, select: REQUEST.select }))
  expect(open.runs).toHaveLength(1)
  second.host.kill()
  stage.world.cluster.deletePod(NAMESPACE, pod)
  await stage.pass(30_000)
  expect(await outcomeOf(stage, stage.start(REQUEST))).toBe('done')
  expect(stateOf(stage, pod)).toBe('ready')
})
