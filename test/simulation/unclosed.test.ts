import { expect, test } from 'vitest'
import { readOpenRuns } from '../../src/engine/orders/open-runs.ts'
import { prepareRun } from '../../src/engine/run.ts'
import type { KubeClient } from '../../src/kube/client.ts'
import { KubeError } from '../../src/kube/errors.ts'
import { NAMESPACE } from './manifests.ts'
import { plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { openStage } from './stage.ts'
import { upgradeTo } from './story.ts'

/*
 * A pod is back in rotation, and its journal cannot be closed, so that the restore intent stays. The run must not be over unreported:
 * otherwise the next run would put the pod back after an operator has taken it out.
 */

const REQUEST = upgradeTo('v2')

/** Starts a run under a policy that forbids to close a journal. */
function startUnclosing(stage: Stage): Actor {
  return stage.start(REQUEST, (ports) => {
    const { client } = ports
    const patch: KubeClient['patch'] = (path, operations, options) =>
      path.includes('/pods/') && JSON.stringify(operations).includes('"Closed"')
        ? Promise.reject(new KubeError('403 Forbidden', { kind: 'definite', method: 'PATCH', path, status: 403 }))
        : client.patch(path, operations, options)
    return prepareRun(REQUEST, { ...ports, client: { ...client, patch } })
  })
}

const restores = ({ history }: Stage): number =>
  history.filter((entry) => entry.type === 'effect' && entry.effect === 'restore').length

test('a pod whose journal cannot be closed is told, its run stays open, and the same command closes it', async () => {
  const stage = await openStage(plainScene({ pods: 1 }))
  const first = startUnclosing(stage)
  await stage.until(() => first.end !== undefined)
  expect(first.end).toMatchObject({
    outcome: 'failed',
    reason: expect.stringContaining('it is back in rotation, but its journal could not be closed: 403 Forbidden'),
    pods: [{ outcome: 'failed', out: false, record: 'unclosed' }],
  })
  const open = await stage.ask(readOpenRuns(stage.client, { namespace: NAMESPACE, select: REQUEST.select }))
  expect(open.runs).toHaveLength(1)
  const again = stage.start(REQUEST)
  await stage.until(() => again.end !== undefined)
  expect(again.end).toMatchObject({ outcome: 'done' })
  expect(restores(stage)).toBe(1)
})
