import { idNamed } from '../../src/workloads/kinds/testing/id-named.ts'
import { expect, test } from 'vitest'
import { withObservation } from '../../src/observation/testing/with-observation.ts'
import { prepareAbort } from '../../src/engine/orders/abort.ts'
import { giveOrder } from '../../src/engine/orders/give-order.ts'
import { readOpenRuns } from '../../src/engine/orders/open-runs.ts'
import type { RunRequest } from '../../src/engine/run.ts'
import { prepareRun } from '../../src/engine/run.ts'
import type { KubeClient, PatchOperation } from '../../src/kube/client.ts'
import { NAME, NAMESPACE } from './manifests.ts'
import { PLAIN_SETTINGS, plainBalancer, plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { openStage } from './stage.ts'
import { ended, outcomeOf, upgradeTo } from './story.ts'

/*
 * The Lease of an owner is cleared or deleted while its drain intent is under way. The next owner may find no open journal. The first owner
 * can still get the answer to its intent, and drain before it learns of the loss: its drain must count.
 */

const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases`

type Kind = 'StatefulSet' | 'Deployment'

/** Accepts the drift of the template: otherwise the next run would not end as done. */
const to = (kind: Kind, tag: string): RunRequest => ({
  ...upgradeTo(tag, { maxUnavailable: { count: 2 } }),
  select: { refs: [idNamed(kind, NAME)] },
  ...(kind === 'Deployment' ? { acceptTemplateDrift: true } : {}),
})

function openScene(kind: Kind): Promise<Stage> {
  const balancers = [plainBalancer({ longestRequestMs: 6_000 })]
  return openStage(plainScene({ workload: kind, pods: 1, readyAfterMs: 5_000, balancers }))
}

interface Gate {
  /** Reports whether the call has been made, and is held. */
  isReached(): boolean
  goOn(): void
}

/** Starts a run whose first call of each kind is held until it is released. */
function startHolding<Kinds extends ((call: string) => boolean)[]>(
  stage: Stage,
  request: RunRequest,
  ...kinds: Kinds
): { actor: Actor; gates: { [At in keyof Kinds]: Gate } } {
  const gates = kinds.map((isMeant) => ({ isMeant, isReached: false, ...Promise.withResolvers<void>() }))
  const hold = async (call: string): Promise<void> => {
    const gate = gates.find(({ isMeant, isReached }) => !isReached && isMeant(call))
    if (gate === undefined) return
    gate.isReached = true
    await gate.promise
  }
  const actor = stage.start(request, (ports) => {
    const { client } = ports
    const create: KubeClient['create'] = async (path, ...rest) => {
      await hold(`POST ${path}`)
      return client.create(path, ...rest)
    }
    const get: KubeClient['get'] = async (path, ...rest) => {
      await hold(`GET ${path}`)
      return client.get(path, ...rest)
    }
    const patch: KubeClient['patch'] = async (path, operations, ...rest) => {
      await hold(`PATCH ${path} ${JSON.stringify(operations)}`)
      return client.patch(path, operations, ...rest)
    }
    return prepareRun(request, withObservation({ ...ports, client: { ...client, create, get, patch } }))
  })
  const told = gates.map((gate): Gate => ({ isReached: () => gate.isReached, goOn: () => gate.resolve() }))
  return { actor, gates: told as { [At in keyof Kinds]: Gate } }
}

const isIntent = (call: string): boolean => call.includes('/pods/') && call.includes('DrainIntent')

async function abort(stage: Stage, { select }: RunRequest): Promise<Actor> {
  const open = await stage.ask(readOpenRuns(stage.client, { namespace: NAMESPACE, select }))
  await stage.ask(giveOrder(open, { order: 'abort', by: 'ann@desk' }, { client: stage.client, namespace: NAMESPACE }))
  const runs = open.runs.map(({ run }) => run)
  const order = { namespace: NAMESPACE, settings: PLAIN_SETTINGS, open, runs, by: 'ann@desk', seen: new Map() }
  return stage.start({}, (ports) => prepareAbort(order, ports))
}

async function interrupted(stage: Stage, request: RunRequest): Promise<Actor> {
  const actor = stage.start(request)
  await stage.until(() => actor.events.some(({ type }) => type === 'started'))
  actor.interrupt()
  return actor
}

function stateOf({ world }: Stage): string | undefined {
  const { name } = (world.pods()[0] as { metadata: { name: string } }).metadata
  return world.balancers.get('edge')!.state(name)?.admin
}

test.each<{ kind: Kind; next: string; begin(stage: Stage, request: RunRequest): Promise<Actor> | Actor; outcome: string }>([
  { kind: 'StatefulSet', next: 'goes on with it', begin: (stage, request) => stage.start(request), outcome: 'done' },
  { kind: 'StatefulSet', next: 'is interrupted at its start', begin: interrupted, outcome: 'interrupted' },
  { kind: 'Deployment', next: 'is an abort', begin: abort, outcome: 'aborted' },
  {
    kind: 'Deployment',
    next: 'finds all done',
    begin: (stage, { select }) => stage.start({ ...to('Deployment', 'v1'), select }),
    outcome: 'done',
  },
])('somebody clears the holder under who is about to drain ($kind), and the next $next', async ({ kind, begin, outcome }) => {
  const stage = await openScene(kind)
  const request = to(kind, 'v2')
  const first = startHolding(stage, request, isIntent)
  const [intent] = first.gates
  await stage.until(intent.isReached)
  const clear = [{ op: 'replace', path: '/spec/holderIdentity', value: '' }] as unknown as PatchOperation[]
  await stage.ask(stage.client.patch(`${LEASES}/sluice-${kind.toLowerCase()}-${NAME}`, clear))
  const second = await begin(stage, request)
  await stage.until(() => second.events.some(({ type }) => type === 'leaseWaiting'))
  intent.goOn()
  expect((await ended(stage, first.actor)).outcome).toBe('conflict')
  expect(await outcomeOf(stage, second)).toBe(outcome)
  expect(await outcomeOf(stage, stage.start(to(kind, 'v3')))).toBe('done')
  expect(stateOf(stage)).toBe('ready')
})

test('somebody deletes the Lease of who has no ledger yet, and the next is the first that is known', async () => {
  const stage = await openScene('Deployment')
  const isLedger = (call: string): boolean => call.startsWith('POST') && call.includes('configmaps')
  const first = startHolding(stage, to('Deployment', 'v2'), isLedger, isIntent)
  const [ledger, intent] = first.gates
  await stage.until(ledger.isReached)
  await stage.ask(stage.client.delete(`${LEASES}/sluice-deployment-${NAME}`))
  let isTaken = false
  const second = startHolding(stage, to('Deployment', 'v1'), (call) => {
    isTaken ||= call.startsWith('POST') && call.includes('leases')
    return isTaken && call.startsWith('GET') && call.includes('configmaps')
  })
  const [look] = second.gates
  await stage.until(look.isReached)
  ledger.goOn()
  await stage.until(intent.isReached)
  look.goOn()
  expect((await ended(stage, second.actor)).outcome).toBe('done')
  intent.goOn()
  expect((await ended(stage, first.actor)).outcome).toBe('conflict')
  expect(await outcomeOf(stage, stage.start(to('Deployment', 'v3')))).toBe('done')
  expect(stateOf(stage)).toBe('ready')
})
