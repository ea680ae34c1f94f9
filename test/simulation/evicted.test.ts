import { DEPLOYMENT } from '../../src/workloads/kinds/deployment.ts'
import type { Resolution } from '../../src/engine/resolving/resolve.ts'
import { expect, test } from 'vitest'
import type { ServerOptions } from '../../sim/load-balancer/entry.ts'
import { resolvePod } from '../../src/engine/resolving/resolve.ts'
import { NAME, NAMESPACE, PORT } from './manifests.ts'
import { plainScene } from './scene.ts'
import type { Stage } from './stage.ts'
import { isIn, isReady, openStage } from './stage.ts'
import { clockOf, ended, upgradeTo } from './story.ts'

/* The kubelet evicts a drained pod, for memory for example: its phase is Failed, and the pod stays until it is collected. */

const request = {
  ...upgradeTo('v2', { readyDeadlineMs: 20_000 }),
  select: { refs: [{ ...DEPLOYMENT, name: NAME }] },
  acceptTemplateDrift: true,
}

interface Evicted {
  stage: Stage
  pod: string
  heir: ServerOptions
}

/** Drains one of two pods by a process that is killed, and evicts it. Its replacement has another address. */
async function evicted(): Promise<Evicted> {
  const stage = await openStage(plainScene({ workload: 'Deployment', pods: 2, fixedAddresses: false }))
  const first = stage.start(request)
  await stage.until(() => isIn('emptying')(first))
  const pod = first.events.flatMap((event) => (event.type === 'podState' && event.to === 'emptying' ? [event.pod] : []))[0]!
  first.host.kill()
  const { store } = stage.world.server
  const status = { phase: 'Failed', reason: 'Evicted' }
  store.update('pods', NAMESPACE, pod, (one) => ({ ...one, status: { ...(one['status'] as object), ...status } }), 'kubelet')
  await stage.pass(40_000)
  const edge = stage.world.balancers.get('edge')!
  const heir = stage.world.pods().find(({ metadata, status: now }) => isReady({ status: now }) && !edge.state(metadata.name))!
  const { podIP } = heir.status as { podIP: string }
  return { stage, pod, heir: { name: heir.metadata.name, address: podIP, port: PORT } }
}

function resolve(stage: Stage, pod: string, traffic: 'in' | 'out'): Promise<Resolution> {
  const told = { signal: new AbortController().signal, onWaiting() {}, onTrouble() {} }
  const ports = { client: stage.client, clock: clockOf(stage), random: { next: () => 0.5 }, identity: 'ann', ...told }
  return stage.ask(resolvePod({ namespace: NAMESPACE, pod, traffic, loadBalancers: [] }, ports))
}

// An evicted pod does not continue, so it is reported as gone.
test('a drained pod that is evicted is spoken of as one that is gone', async () => {
  const { stage, pod, heir } = await evicted()
  stage.world.balancers.get('edge')!.operator.add(heir)
  const end = await ended(stage, stage.start(request))
  const { instructions, outcome } = end.pods.find((one) => one.pod === pod)!
  expect([end.outcome, outcome]).toEqual(['needsOperator', 'needsOperator'])
  expect(instructions).toMatch(/\nPoint the entries at the pod in its place, and leave them drained, or remove them; /)
  expect(instructions).toMatch(new RegExp(`\\n  sluice resolve pod/${pod} -n ${NAMESPACE} --traffic in$`))
  await expect(resolve(stage, pod, 'out')).rejects.toMatchObject({ reason: { code: 'pod-has-ended' } })
})

/** Runs the command again. Returns its end, and the states of the entries of the present pods. */
async function again({ stage, pod }: Evicted, named: Record<string, string> = {}): Promise<unknown[]> {
  const { outcome } = await ended(stage, stage.start(request))
  const names = stage.world.pods().flatMap(({ metadata: { name } }) => (name === pod ? [] : [named[name] ?? name]))
  const edge = stage.world.balancers.get('edge')!
  return [outcome, ...names.map((name) => edge.state(name)?.admin)]
}

const HOME = ['done', 'ready', 'ready']

test('the same command brings all home once its entry is pointed at the pod in its place', async () => {
  const found = await evicted()
  const { stage, pod, heir } = found
  stage.world.balancers.get('edge')!.operator.set(pod, { address: heir.address })
  expect(await again(found, { [heir.name]: pod })).toEqual(HOME)
})

test('and once its entry is removed', async () => {
  const found = await evicted()
  const { operator } = found.stage.world.balancers.get('edge')!
  operator.add(found.heir)
  operator.remove(found.pod)
  expect(await again(found)).toEqual(HOME)
})

test('and once a person has said that its entry is as it should be', async () => {
  const found = await evicted()
  const { stage, pod, heir } = found
  stage.world.balancers.get('edge')!.operator.add(heir)
  expect(await ended(stage, stage.start(request))).toMatchObject({ outcome: 'needsOperator' })
  const { done } = await resolve(stage, pod, 'in')
  expect(done).toEqual([{ code: 'said-and-closed', pod, patchedAndUnready: false }])
  expect(await again(found)).toEqual(HOME)
})
