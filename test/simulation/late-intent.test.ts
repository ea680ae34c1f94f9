import { POD } from '../../src/workloads/kinds/pod.ts'
import { expect, test } from 'vitest'
import { prepareAbort } from '../../src/engine/orders/abort.ts'
import { giveOrder } from '../../src/engine/orders/give-order.ts'
import { readOpenRuns } from '../../src/engine/orders/open-runs.ts'
import { resolvePod } from '../../src/engine/resolving/resolve.ts'
import { prepareRun } from '../../src/engine/run.ts'
import type { KubeClient, PatchOperation } from '../../src/kube/client.ts'
import { KubeError } from '../../src/kube/errors.ts'
import { NAME, NAMESPACE } from './manifests.ts'
import { addStatefulSet } from './other-workload.ts'
import { PLAIN_SETTINGS, plainBalancer, plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { openStage } from './stage.ts'
import { clockOf, outcomeOf, statusOf, upgradeTo } from './story.ts'

/*
 * A process is killed with its first drain intent under way, and its successor has no write for that pod. An intent that arrives afterwards
 * does not count as a drain: a target that an operator has out meanwhile stays out.
 */

interface Late {
  /** The name of the pod. */
  pod: string
  /** Lets the drain intent arrive. */
  arrive(): Promise<unknown>
}

/** A window with room for a pod that an operator has out. */
const TWO = { maxUnavailable: { count: 2 } }

/** Starts a run to v2, two pods at a time. Its drain intents go to `send`. */
function upgradeSending(
  stage: Stage,
  { names = [NAME] }: { names?: string[] | undefined },
  send: (intent: Intent) => Promise<unknown>,
): Actor {
  const request = upgradeTo('v2', { ...TWO, names })
  return stage.start(request, (ports) => {
    const { client } = ports
    const patch: KubeClient['patch'] = (path, operations, options) => {
      const write = (): Promise<unknown> => client.patch(path, operations, options)
      if (!path.includes('/pods/') || !JSON.stringify(operations).includes('DrainIntent')) return write()
      const lost = (): Promise<never> =>
        Promise.reject(new KubeError('connection reset', { kind: 'ambiguous', method: 'PATCH', path }))
      const arrive = (): Promise<unknown> => stage.client.patch(path, operations as PatchOperation[])
      return send({ pod: /\/pods\/([^/]+)/.exec(path)![1]!, write, lost, arrive })
    }
    return prepareRun(request, { ...ports, client: { ...client, patch } })
  })
}

interface Intent extends Late {
  /** Writes the intent as usual. */
  write(): Promise<unknown>
  /** Fails as a write without an answer. */
  lost(): Promise<never>
}

/** Kills a run to v2 while its drain intent is under way. Returns the intent. */
async function killedWithIntent(stage: Stage, names?: string[]): Promise<Late> {
  const late: Late[] = []
  const first = upgradeSending(stage, { names }, (intent) => {
    late.push(intent)
    first.host.kill()
    return intent.lost()
  })
  await stage.until(() => late.length > 0)
  await stage.pass(1_000)
  expect(late).toHaveLength(1)
  return late[0]!
}

function openScene(): Promise<Stage> {
  return openStage(plainScene({ pods: 2, balancers: [plainBalancer({ longestRequestMs: 6_000 })] }))
}

/** Puts the pod into maintenance by hand, where it is to stay. */
async function takeOut(stage: Stage, pod: string): Promise<void> {
  stage.world.balancers.get('edge')!.operator.set(pod, { admin: 'drain' })
  await stage.pass(1_000)
}

function isOut(stage: Stage, pod: string): boolean {
  return stage.world.balancers.get('edge')!.state(pod)?.admin === 'drain'
}

async function abort(stage: Stage, onTemplate?: () => Promise<unknown>): Promise<string | undefined> {
  const open = await stage.ask(readOpenRuns(stage.client, { namespace: NAMESPACE, select: upgradeTo('v2').select }))
  await stage.ask(giveOrder(open, { order: 'abort', by: 'ann@desk' }, { client: stage.client, namespace: NAMESPACE }))
  const runs = open.runs.map(({ run }) => run)
  const order = { namespace: NAMESPACE, settings: PLAIN_SETTINGS, open, runs, by: 'ann@desk', seen: new Map() }
  return outcomeOf(
    stage,
    stage.start({}, (ports) => {
      const { client } = ports
      const patch: KubeClient['patch'] = async (path, ...rest) => {
        if (path.includes('/statefulsets/')) await onTemplate?.()
        return client.patch(path, ...rest)
      }
      return prepareAbort(order, { ...ports, client: { ...client, patch } })
    }),
  )
}

async function statesOf(stage: Stage): Promise<string[]> {
  return (await statusOf(stage)).map(({ name, state }) => `${name} ${state}`)
}

test.each([
  { by: 'an abort', end: abort, outcome: 'aborted' },
  { by: 'a run that finds all done', end: (stage: Stage) => outcomeOf(stage, stage.start(upgradeTo('v1'))), outcome: 'done' },
])('a drain intent of who was killed is void once the run was ended by $by', async ({ end, outcome }) => {
  const stage = await openScene()
  const { pod, arrive } = await killedWithIntent(stage)
  expect(await end(stage)).toBe(outcome)
  await stage.ask(arrive())
  expect(await statesOf(stage)).toEqual([`${pod} closed`])
  await takeOut(stage, pod)
  expect(await outcomeOf(stage, stage.start(upgradeTo('v3', TWO)))).toBe('done')
  expect(isOut(stage, pod)).toBe(true)
})

/** Continues the run, and interrupts it before it has begun with a pod. */
async function interrupted(stage: Stage): Promise<void> {
  const second = stage.start(upgradeTo('v2'))
  await stage.until(() => second.events.some(({ type }) => type === 'started'))
  second.interrupt()
  expect(await outcomeOf(stage, second)).toBe('interrupted')
}

// The record that nothing is drained is written before the first drain. The late intent must stay void afterwards.
test.each([
  { how: 'that ends well', isLost: false, isKilled: false },
  { how: 'whose own first intent is lost', isLost: true, isKilled: false },
  { how: 'which is killed before its own intent, and for the one after it', isLost: true, isKilled: true },
])('what is void stays so for a run $how', async ({ isLost, isKilled }) => {
  const stage = await openScene()
  const { pod, arrive } = await killedWithIntent(stage)
  await interrupted(stage)
  await stage.ask(arrive())
  await takeOut(stage, pod)
  let hasBegun = false
  const third = upgradeSending(stage, {}, (intent) => {
    if (intent.pod !== pod || hasBegun) return intent.write()
    hasBegun = true
    if (isKilled) third.host.kill()
    return isLost ? intent.lost() : intent.write()
  })
  if (isKilled) {
    await stage.until(() => hasBegun)
    await stage.pass(1_000)
  }
  expect(await outcomeOf(stage, isKilled ? stage.start(upgradeTo('v2', TWO)) : third)).toBe('done')
  expect(hasBegun).toBe(true)
  expect(isOut(stage, pod)).toBe(true)
})

// The next owner is there already when the intent arrives.
test.each([
  { when: 'never', isLate: false },
  { when: 'after that', isLate: true },
])('one that arrives ($when) while its pod waits for its turn, and an operator has it out', async ({ isLate }) => {
  const stage = await openScene()
  const { pod, arrive } = await killedWithIntent(stage)
  const second = stage.start(upgradeTo('v2'))
  await stage.until(() => second.events.some((event) => event.type === 'podState' && event.to === 'restarting'))
  expect(second.events.some((event) => event.type === 'podState' && event.pod === pod && event.to === 'draining')).toBe(false)
  await takeOut(stage, pod)
  if (isLate) await stage.ask(arrive())
  expect(await outcomeOf(stage, second)).toBe('done')
  expect(isOut(stage, pod)).toBe(true)
})

test('one that arrives when its pod was told not to be started, and the next owner is on its way out', async () => {
  const stage = await openScene()
  const { pod, arrive } = await killedWithIntent(stage)
  const second = stage.start(upgradeTo('v2'))
  await stage.until(() => second.events.some((event) => event.type === 'podState' && event.to === 'restarting'))
  second.interrupt()
  await stage.until(() => second.events.some((event) => event.type === 'podFinished' && event.result.pod === pod))
  expect(second.end).toBeUndefined()
  await stage.ask(arrive())
  expect(await outcomeOf(stage, second)).toBe('interrupted')
  await takeOut(stage, pod)
  expect(await outcomeOf(stage, stage.start(upgradeTo('v2', TWO)))).toBe('done')
  expect(isOut(stage, pod)).toBe(true)
})

// The abort must close its run and the journal.
test('one that arrives while an abort puts the template back', async () => {
  const stage = await openScene()
  const { pod, arrive } = await killedWithIntent(stage)
  let hasArrived = false
  const outcome = await abort(stage, async () => {
    if (!hasArrived) await arrive()
    hasArrived = true
  })
  expect([hasArrived, outcome]).toEqual([true, 'aborted'])
  const { runs } = await stage.ask(readOpenRuns(stage.client, { namespace: NAMESPACE, select: upgradeTo('v2').select }))
  expect([runs, await statesOf(stage)]).toEqual([[], [`${pod} closed`]])
})

test('control: one that arrives before that is gone on with, and put back', async () => {
  const stage = await openScene()
  const { pod, arrive } = await killedWithIntent(stage)
  await stage.ask(arrive())
  expect(await statesOf(stage)).toEqual([`${pod} drain`])
  expect(await abort(stage)).toBe('aborted')
  expect(await statesOf(stage)).toEqual([`${pod} closed`])
  expect(stage.world.balancers.get('edge')!.state(pod)?.admin).toBe('ready')
})

// The earlier run stays open for the other workload, and its ledger covers the intent too.
test.each([
  { next: 'finds all done', request: upgradeTo('v1') },
  {
    next: 'is about another pod',
    request: { ...upgradeTo('v2'), select: { refs: [{ ...POD, name: `${NAME}-0` } as const] } },
  },
])('one of a run of several workloads, when another of one of them $next', async ({ request }) => {
  const stage = await openScene()
  await addStatefulSet(stage, 'other')
  const { pod, arrive } = await killedWithIntent(stage, [NAME, 'other'])
  expect(pod).toBe(`${NAME}-1`)
  expect(await outcomeOf(stage, stage.start(request))).toBe('done')
  await stage.ask(arrive())
  await takeOut(stage, pod)
  expect(await outcomeOf(stage, stage.start(upgradeTo('v3', TWO)))).toBe('done')
  expect(isOut(stage, pod)).toBe(true)
})

// The process has reported that it does not know about its intent, so the next run must not begin over it.
test('control: one of a process that came to its end not knowing whether it was stored counts', async () => {
  const stage = await openScene()
  const late: Late[] = []
  const first = upgradeSending(stage, {}, (intent) => {
    late.push(intent)
    return new Promise(() => {})
  })
  await stage.until(() => late.length > 0)
  first.interrupt()
  expect(await outcomeOf(stage, first)).toBe('interrupted')
  const [{ pod, arrive }] = late as [Late]
  await stage.ask(arrive())
  expect(await statesOf(stage)).toEqual([`${pod} drain`])
})

// The former owner has given the Lease back.
test('what has come too late for an owner that was given the Lease stays so when a run begins with its pod', async () => {
  const stage = await openScene()
  const late: Late[] = []
  const first = upgradeSending(stage, {}, (intent) => {
    late.push(intent)
    return new Promise(() => {})
  })
  await stage.until(() => late.length > 0)
  first.interrupt()
  expect(await outcomeOf(stage, first)).toBe('interrupted')
  await interrupted(stage)
  const [{ pod, arrive }] = late as [Late]
  await stage.ask(arrive())
  expect(await statesOf(stage)).toEqual([`${pod} closed`])
  await takeOut(stage, pod)
  let hasBegun = false
  const third = upgradeSending(stage, {}, (intent) => {
    if (intent.pod !== pod || hasBegun) return intent.write()
    hasBegun = true
    return intent.lost()
  })
  expect(await outcomeOf(stage, third)).toBe('done')
  expect([hasBegun, isOut(stage, pod)]).toEqual([true, true])
})

// A run by label must not take the journals of the other pods as they stand, since late intents among them are void.
test('one of a run of several workloads, which stays open, on a pod beside those of a run by label', async () => {
  const stage = await openScene()
  const path = `/api/v1/namespaces/${NAMESPACE}/pods/${NAME}-0`
  const label = [{ op: 'add', path: '/metadata/labels/part', value: 'one' }] as unknown as PatchOperation[]
  await stage.ask(stage.client.patch(path, label))
  await addStatefulSet(stage, 'other')
  const { pod, arrive } = await killedWithIntent(stage, [NAME, 'other'])
  expect(pod).toBe(`${NAME}-1`)
  expect(await outcomeOf(stage, stage.start(upgradeTo('v1')))).toBe('done')
  await stage.ask(arrive())
  const byLabel = { ...upgradeTo('v3', TWO), select: { labelSelector: 'part=one' } }
  expect(await outcomeOf(stage, stage.start(byLabel))).toBe('done')
})

// Otherwise the next run would continue there, and put the pod back.
test('nobody can say of a pod with a void one that it is out for a run', async () => {
  const stage = await openScene()
  const { pod, arrive } = await killedWithIntent(stage)
  expect(await outcomeOf(stage, stage.start(upgradeTo('v1')))).toBe('done')
  await stage.ask(arrive())
  await takeOut(stage, pod)
  const ports = { client: stage.client, clock: clockOf(stage), random: { next: () => 0.5 }, identity: 'ann@desk' }
  const told = { signal: new AbortController().signal, onWaiting() {}, onTrouble() {} }
  const word = resolvePod({ namespace: NAMESPACE, pod, traffic: 'out', loadBalancers: [] }, { ...ports, ...told })
  await expect(stage.ask(word)).rejects.toMatchObject({ reason: { code: 'nothing-to-resolve' } })
})
