import { expect, test } from 'vitest'
import { cleanUp } from '../../src/engine/ledgers/cleanup.ts'
import { listLedgerParts, listLedgers } from '../../src/engine/ledgers/list-ledgers.ts'
import { prepareRun } from '../../src/engine/run.ts'
import type { KubeClient, PatchOperation } from '../../src/kube/client.ts'
import { KubeError } from '../../src/kube/errors.ts'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'
import { plainBalancer, plainScene } from './scene.ts'
import type { Stage } from './stage.ts'
import { isIn, openStage } from './stage.ts'
import { clockOf, outcomeOf, upgradeTo } from './story.ts'

/*
 * The connection breaks while a process makes its ledger. The process gives up, and gives its Lease back. The ledger arrives after the end
 * of the next run. It must not count as the newest: an undo, an abort or a rollback would bring back its images, and would put targets back
 * that an operator has out.
 */

type Write = 'create' | 'patch'

/** Starts a run to v3 without an answer to the first write of its ledger. The run gives up. The returned function lets the write arrive. */
async function lateBegin(stage: Stage, write: Write): Promise<() => Promise<unknown>> {
  const underWay: (() => Promise<unknown>)[] = []
  const request = upgradeTo('v3')
  const isHeader = (operations: readonly PatchOperation[]): boolean =>
    operations.some((one) => one.op === 'add' && one.path === '/data/header')
  const actor = stage.start(request, (ports) => {
    const { client } = ports
    const lost = (method: string, path: string, carryOut: () => Promise<unknown>): Promise<never> => {
      underWay.push(carryOut)
      return Promise.reject(new KubeError('connection reset', { kind: 'ambiguous', method, path }))
    }
    const create: KubeClient['create'] = (path, body, options) =>
      write === 'create' && path.endsWith('/configmaps')
        ? lost('POST', path, () => stage.client.create(path, body))
        : client.create(path, body, options)
    const patch: KubeClient['patch'] = (path, operations, options) =>
      write === 'patch' && isHeader(operations)
        ? lost('PATCH', path, () => stage.client.patch(path, operations))
        : client.patch(path, operations, options)
    return prepareRun(request, { ...ports, client: { ...client, create, patch } })
  })
  await stage.until(() => actor.end !== undefined)
  expect(actor.end?.outcome).toBe('deadline')
  return () => stage.ask(underWay[0]!())
}

const imagesOf = (stage: Stage): string[] =>
  stage.world.pods().map((pod) => (pod as unknown as { spec: { containers: [{ image: string }] } }).spec.containers[0].image)

/** Kills v2 in the middle and deletes its pod. v3 begins without an answer, v2 comes to its end, and the write of v3 arrives. */
async function story(write: Write) {
  const stage = await openStage(plainScene({ pods: 2, balancers: [plainBalancer({ longestRequestMs: 6_000 })] }))
  const pod = `${NAME}-1`
  const first = stage.start(upgradeTo('v2'))
  await stage.until(() => isIn('emptying', pod)(first))
  await stage.pass(300)
  first.host.kill()
  const arrive = await lateBegin(stage, write)
  stage.world.cluster.deletePod(NAMESPACE, pod)
  expect(await outcomeOf(stage, stage.start(upgradeTo('v2')))).toBe('done')
  const arrived = await arrive().then(
    () => 'made',
    (error: KubeError) => error.status,
  )
  return { stage, pod, arrived }
}

test.each([
  { write: 'create', arrived: 'made' },
  { write: 'patch', arrived: 422 },
] as const)('a ledger whose $write arrives after the next run is none', async ({ write, arrived }) => {
  const { stage, ...told } = await story(write)
  expect(told.arrived).toBe(arrived)
  const runs = await stage.ask(listLedgers(stage.client, NAMESPACE))
  expect(runs).toMatchObject([{ kind: 'read', ledger: { header: { finishedAt: expect.any(String) } } }])
})

test.each(['create', 'patch'] as const)('what an operator has out by then is left out: %s', async (write) => {
  const { stage, pod } = await story(write)
  const edge = stage.world.balancers.get('edge')!
  edge.operator.set(pod, { admin: 'drain' })
  await stage.pass(1_000)
  const wide = upgradeTo('v3', { maxUnavailable: { count: 2 } })
  expect(await outcomeOf(stage, stage.start(wide))).toBe('done')
  expect(edge.state(pod)?.admin).toBe('drain')
})

test.each(['create', 'patch'] as const)('an undo after it brings back what was there before: %s', async (write) => {
  const { stage } = await story(write)
  expect(await outcomeOf(stage, stage.start(upgradeTo('v3')))).toBe('done')
  expect(await outcomeOf(stage, stage.start({ ...upgradeTo('v3'), undo: {} }))).toBe('done')
  expect(imagesOf(stage)).toEqual([imageOf('v2'), imageOf('v2')])
})

test('control: where it arrives in time, the next run supersedes it, and its process is not needed', async () => {
  const stage = await openStage(plainScene({ pods: 2, balancers: [plainBalancer({ longestRequestMs: 6_000 })] }))
  const arrive = await lateBegin(stage, 'patch')
  await arrive()
  expect(await stage.ask(listLedgers(stage.client, NAMESPACE))).toMatchObject([{ kind: 'read' }])
  expect(await outcomeOf(stage, stage.start(upgradeTo('v2')))).toBe('done')
  const runs = await stage.ask(listLedgers(stage.client, NAMESPACE))
  expect(runs.map((one) => one.kind === 'read' && one.ledger.header.finishedAt !== undefined)).toEqual([true, true])
})

test('what is left of it is removed by a cleanup, and a header that arrives after that finds nothing', async () => {
  const stage = await openStage(plainScene({ pods: 2 }))
  const arrive = await lateBegin(stage, 'patch')
  const all = { namespace: NAMESPACE, refs: [], dryRun: false }
  const { removed } = await stage.ask(cleanUp(all, { client: stage.client, clock: clockOf(stage) }))
  expect(removed).toMatchObject([{ reason: { code: 'part-without-ledger', mayBegin: false } }])
  await expect(arrive()).rejects.toMatchObject({ status: 404 })
  expect(await stage.ask(listLedgerParts(stage.client, NAMESPACE))).toEqual([])
})
