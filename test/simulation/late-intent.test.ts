import { expect, test } from 'vitest'
import { prepareAbort } from '../../src/engine/orders/abort.ts'
import { giveOrder } from '../../src/engine/orders/give-order.ts'
import { readOpenRuns } from '../../src/engine/orders/open-runs.ts'
import { prepareRun } from '../../src/engine/run.ts'
import type { KubeClient, PatchOperation } from '../../src/kube/client.ts'
import { KubeError } from '../../src/kube/errors.ts'
import { NAMESPACE } from './manifests.ts'
import { PLAIN_SETTINGS, plainBalancer, plainScene } from './scene.ts'
import type { Stage } from './stage.ts'
import { openStage } from './stage.ts'
import { outcomeOf, statusOf, upgradeTo } from './story.ts'

/*
 * Found by trial: a process was killed with its first drain intent on its way, and whoever ended its run had nothing to write on that pod.
 * The intent arrived after that, and the next run took it for a drain: it put back what an operator had out by then.
 */

interface Late {
  /** Of which pod. */
  pod: string
  /** The drain intent arrives now. */
  arrive(): Promise<unknown>
}

/** A run to v2 that is killed with a drain intent on its way for as long as is wanted. */
async function killedWithIntent(stage: Stage): Promise<Late> {
  const request = upgradeTo('v2')
  const late: Late[] = []
  const first = stage.start(request, (ports) => {
    const { client } = ports
    const patch: KubeClient['patch'] = (path, operations, options) => {
      if (!path.includes('/pods/') || !JSON.stringify(operations).includes('DrainIntent'))
        return client.patch(path, operations, options)
      const pod = /\/pods\/([^/]+)/.exec(path)![1]!
      late.push({ pod, arrive: () => stage.ask(stage.client.patch(path, operations as PatchOperation[])) })
      first.host.kill()
      return Promise.reject(new KubeError('connection reset', { kind: 'ambiguous', method: 'PATCH', path }))
    }
    return prepareRun(request, { ...ports, client: { ...client, patch } })
  })
  await stage.until(() => late.length > 0)
  await stage.pass(1_000)
  expect(late).toHaveLength(1)
  return late[0]!
}

async function abort(stage: Stage): Promise<string | undefined> {
  const open = await stage.ask(readOpenRuns(stage.client, { namespace: NAMESPACE, select: upgradeTo('v2').select }))
  await stage.ask(giveOrder(open, { order: 'abort', by: 'ann@desk' }, { client: stage.client, namespace: NAMESPACE }))
  const runs = open.runs.map(({ run }) => run)
  const order = { namespace: NAMESPACE, settings: PLAIN_SETTINGS, open, runs, by: 'ann@desk', seen: new Map() }
  return outcomeOf(
    stage,
    stage.start({}, (ports) => prepareAbort(order, ports)),
  )
}

async function statesOf(stage: Stage): Promise<string[]> {
  return (await statusOf(stage)).map(({ name, state }) => `${name} ${state}`)
}

test.each([
  { by: 'an abort', end: abort, outcome: 'aborted' },
  { by: 'a run that finds all done', end: (stage: Stage) => outcomeOf(stage, stage.start(upgradeTo('v1'))), outcome: 'done' },
])('a drain intent of who was killed is void once the run was ended by $by', async ({ end, outcome }) => {
  const stage = await openStage(plainScene({ pods: 2, balancers: [plainBalancer({ longestRequestMs: 6_000 })] }))
  const edge = stage.world.balancers.get('edge')!
  const { pod, arrive } = await killedWithIntent(stage)
  expect(await end(stage)).toBe(outcome)
  await arrive()
  expect(await statesOf(stage)).toEqual([`${pod} closed`])
  edge.operator.set(pod, { admin: 'drain' })
  await stage.pass(1_000)
  expect(await outcomeOf(stage, stage.start(upgradeTo('v3', { maxUnavailable: { count: 2 } })))).toBe('done')
  expect(edge.state(pod)?.admin).toBe('drain')
})

test('control: one that arrives before that is gone on with, and put back', async () => {
  const stage = await openStage(plainScene({ pods: 2, balancers: [plainBalancer({ longestRequestMs: 6_000 })] }))
  const { pod, arrive } = await killedWithIntent(stage)
  await arrive()
  expect(await statesOf(stage)).toEqual([`${pod} drain`])
  expect(await abort(stage)).toBe('aborted')
  expect(await statesOf(stage)).toEqual([`${pod} closed`])
  expect(stage.world.balancers.get('edge')!.state(pod)?.admin).toBe('ready')
})
