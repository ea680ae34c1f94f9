import { STATEFUL_SET } from '../../src/workloads/kinds/stateful-set.ts'
import { expect, test } from 'vitest'
import { RENEW_EVERY_MS } from '../../src/leases/lease.ts'
import { leaseName } from '../../src/engine/leases/lease-name.ts'
import { leasePath } from '../../src/leases/lease.ts'
import { readLease } from '../../src/leases/read-lease.ts'
import { giveOrder } from '../../src/engine/orders/give-order.ts'
import { readOpenRuns } from '../../src/engine/orders/open-runs.ts'
import { ORDER_ANNOTATION, orderFor, readOrder } from '../../src/engine/orders/order.ts'
import type { KubeClient } from '../../src/kube/client.ts'
import { KubeError } from '../../src/kube/errors.ts'
import { prepareRun, type PreparedRun } from '../../src/engine/run.ts'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'
import { PLAIN_SETTINGS, plainScene } from './scene.ts'
import type { RunEvent } from '../../src/engine/events.ts'
import { type OwnOrder, RunOverError } from '../../src/engine/orders/own-orders.ts'
import { type Actor, isIn, openStage, type Stage } from './stage.ts'

/* Orders that a run gets from its own process. */

const REQUEST = {
  namespace: NAMESPACE,
  select: { refs: [{ ...STATEFUL_SET, name: NAME } as const] },
  images: [{ container: 'app', image: imageOf('v2') }],
  settings: PLAIN_SETTINGS,
  acceptTemplateDrift: false,
  allowUnbalanced: false,
}

interface Driven {
  stage: Stage
  actor: Actor
  run(): PreparedRun
}

async function driven(pods = 3, beforeExecute: (prepared: PreparedRun) => void = () => {}): Promise<Driven> {
  const stage = await openStage(plainScene({ pods }))
  let run: PreparedRun | undefined
  const actor = stage.start(REQUEST, async (ports) => {
    run = await prepareRun(REQUEST, ports)
    beforeExecute(run)
    return run
  })
  return { stage, actor, run: () => run! }
}

const orderedAt = ({ events }: Actor, order: string): number | undefined =>
  events.find((event) => event.type === 'ordered' && event.order === order)?.atMs

const started = ({ events }: Actor): number =>
  events.filter((event) => event.type === 'podState' && event.to === 'draining').length

const runOf = ({ events }: Actor): string => events.flatMap((event) => (event.type === 'started' ? [event.run] : []))[0]!

async function standing({ stage, actor }: Driven) {
  const lease = await stage.ask(readLease(stage.client, NAMESPACE, leaseName({ ...STATEFUL_SET, name: NAME })))
  return orderFor(runOf(actor), [readOrder(lease!.annotations)])
}

test('a pause counts at once, stands on the Lease, and is lifted at once', async () => {
  const bed = await driven()
  const { stage, actor, run } = bed
  await stage.until(() => isIn('restarting')(actor))
  const at = actor.events.at(-1)!.atMs
  await stage.ask(run().order('pause', 'ann@desk'))
  expect(orderedAt(actor, 'pause')! - at).toBeLessThan(RENEW_EVERY_MS / 4)
  expect(await standing(bed)).toMatchObject({ order: 'pause', by: 'ann@desk', runs: [runOf(actor)] })
  await stage.until(() => actor.events.some(({ type }) => type === 'paused'))
  await stage.pass(60_000)
  expect(started(actor)).toBe(1)

  await stage.ask(run().order('resume', 'ann@desk'))
  expect(await standing(bed)).toBeUndefined()
  await stage.until(() => actor.end !== undefined)
  expect([actor.end?.outcome, started(actor)]).toEqual(['done', 3])
})

test('a pause that is given before the run begins keeps its first pod from starting, and is taken over with it', async () => {
  const orders: Promise<void>[] = []
  const bed = await driven(3, (prepared) => orders.push(prepared.order('pause', 'ann@desk')))
  const { stage, actor } = bed
  await stage.until(() => actor.events.some(({ type }) => type === 'paused'))
  await stage.ask(Promise.all(orders))
  expect(await standing(bed)).toMatchObject({ order: 'pause' })
  expect(started(actor)).toBe(0)
  actor.host.kill()

  const next = stage.start(REQUEST)
  await stage.until(() => next.events.some(({ type }) => type === 'paused'))
  expect([runOf(next), started(next)]).toEqual([runOf(actor), 0])
})

test('an abort puts the run to its end, and its order goes with it', async () => {
  const bed = await driven()
  const { stage, actor, run } = bed
  await stage.until(() => isIn('done')(actor))
  await stage.ask(run().order('abort', 'ann@desk'))
  await stage.until(() => actor.end !== undefined)
  expect(actor.end).toMatchObject({ outcome: 'aborted', reason: expect.stringContaining('ann@desk') })
  expect(await standing(bed)).toBeUndefined()
  const [set] = stage.world.server.store.list('statefulsets.apps', NAMESPACE) as unknown as {
    spec: { template: { spec: { containers: { image: string }[] } } }
  }[]
  expect(set!.spec.template.spec.containers[0]!.image).toBe(imageOf('v1'))
})

test('a pause that cannot be written counts in this process all the same, and whoever gave it hears that', async () => {
  const { stage, actor, run } = await driven()
  await stage.until(() => isIn('restarting')(actor))
  stage.stopApiServer(25_000)
  const given = run()
    .order('pause', 'ann@desk')
    .then(
      () => 'written',
      (error: Error) => error.name,
    )
  expect(orderedAt(actor, 'pause')).toBeDefined()
  expect(await stage.ask(given)).toBe('KubeError')
  await stage.until(() => actor.events.some(({ type }) => type === 'paused'))
  expect(started(actor)).toBe(1)
  await stage.ask(run().order('resume', 'ann@desk'))
  await stage.until(() => actor.end !== undefined)
  expect([actor.end?.outcome, started(actor)]).toEqual(['done', 3])
})

test('a resume that cannot be written leaves a pause that was not written either, until it is given again', async () => {
  const { stage, actor, run } = await driven()
  await stage.until(() => isIn('restarting')(actor))
  stage.stopApiServer(25_000)
  const given = (['pause', 'resume'] as const).map((order) => run().order(order, 'ann@desk'))
  const told = await stage.ask(Promise.allSettled(given))
  expect(told).toMatchObject([0, 1].map(() => ({ status: 'rejected', reason: { name: 'KubeError' } })))
  await stage.until(() => actor.events.some(({ type }) => type === 'paused'))
  await stage.pass(60_000)
  expect([actor.end, started(actor)]).toEqual([undefined, 1])
  await stage.ask(run().order('resume', 'ann@desk'))
  await stage.until(() => actor.end !== undefined)
  expect([actor.end?.outcome, started(actor)]).toEqual(['done', 3])
})

test('found by seeds 600029 and 600600: a process whose pause and resume meet an API server restart comes to its end', async () => {
  const { stage, actor } = await driven()
  await stage.until(() => isIn('restarting')(actor))
  stage.stopApiServer(25_000)
  for (const order of ['pause', 'resume'] as const) actor.order(order)
  await stage.until(() => actor.end !== undefined)
  expect([actor.end?.outcome, started(actor)]).toEqual(['done', 3])
  expect(orderedAt(actor, 'resume')).toBeDefined()
})

test('a pause that is written counts also while this owner cannot read it', async () => {
  let isCut = false
  let wasCut = false
  const stage = await openStage(plainScene({ pods: 3 }))
  let run: PreparedRun | undefined
  const actor = stage.start(REQUEST, async (ports) => {
    const { client } = ports
    const get: typeof client.get = async (path, options) => {
      if (isCut && path.includes('/leases/')) throw new KubeError('cut', { kind: 'ambiguous', method: 'GET', path })
      return client.get(path, options)
    }
    const patch: typeof client.patch = async (path, ...rest) => {
      const answer = await client.patch(path, ...rest)
      isCut ||= !wasCut && path.includes('/leases/')
      wasCut ||= isCut
      return answer
    }
    run = await prepareRun(REQUEST, { ...ports, client: { ...client, get, patch } })
    return run
  })
  await stage.until(() => isIn('restarting')(actor))
  await stage.ask(run!.order('pause', 'ann@desk'))
  await stage.until(() => actor.events.some(({ type }) => type === 'paused'))
  await stage.pass(5_000)
  expect([isCut, started(actor)]).toEqual([true, 1])
  isCut = false
  await stage.ask(run!.order('resume', 'ann@desk'))
  await stage.until(() => actor.end !== undefined)
  expect([actor.end?.outcome, started(actor)]).toEqual(['done', 3])
})

test('an abort by another process outranks a pause and a resume from here', async () => {
  const { stage, actor, run } = await driven()
  await stage.until(() => isIn('restarting')(actor))
  const open = await stage.ask(readOpenRuns(stage.client, REQUEST))
  await stage.ask(giveOrder(open, { order: 'abort', by: 'bob@desk' }, { client: stage.client, namespace: NAMESPACE }))
  for (const order of ['pause', 'resume'] as const)
    await expect(stage.ask(run().order(order, 'ann@desk'))).rejects.toMatchObject({ name: 'RunError', kind: 'conflict' })
  await stage.until(() => actor.end !== undefined)
  expect(actor.end).toMatchObject({ outcome: 'aborted', reason: expect.stringContaining('bob@desk') })
})

test('an abort that is given before the run begins is not taken back by a pause or a resume after it', async () => {
  const orders: Promise<string>[] = []
  const { stage, actor } = await driven(3, (prepared) => {
    for (const order of ['abort', 'pause', 'resume'] as const)
      orders.push(
        prepared.order(order, 'ann@desk').then(
          () => 'given',
          (error: Error) => error.name,
        ),
      )
  })
  await stage.until(() => actor.end !== undefined)
  expect(actor.end).toMatchObject({ outcome: 'aborted' })
  expect((await stage.ask(Promise.all(orders)))[0]).toBe('given')
  expect(started(actor)).toBe(0)
})

test('a resume counts once no Lease says that the run is paused', async () => {
  const bed = await driven(3, (prepared) => {
    for (const order of ['pause', 'resume'] as const) void prepared.order(order, 'ann@desk')
  })
  const { stage, actor } = bed
  await stage.until(() => actor.end !== undefined)
  expect([actor.end?.outcome, started(actor)]).toEqual(['done', 3])
  const orderAt = stage.history.flatMap((entry) => {
    if (entry.type !== 'stored' || entry.resource !== 'leases.coordination.k8s.io') return []
    const annotations = (entry.after as { metadata: { annotations?: Record<string, string> } } | undefined)?.metadata.annotations
    return [{ at: entry.at, order: annotations?.[ORDER_ANNOTATION] }]
  })
  const lifted = orderAt.find(({ order }, index) => order === undefined && orderAt[index - 1]?.order !== undefined)
  const drained = stage.history.find((entry) => entry.type === 'effect' && entry.effect === 'drain')
  expect(drained!.at).toBeGreaterThan(lifted!.at)
})

test('a run that is over hears no order', async () => {
  const { stage, actor, run } = await driven(1)
  await stage.until(() => actor.end !== undefined)
  await expect(run().order('pause', 'ann@desk')).rejects.toBeInstanceOf(RunOverError)
  const lease = await stage.ask(stage.client.get(leasePath(NAMESPACE, leaseName({ ...STATEFUL_SET, name: NAME }))))
  expect(JSON.stringify(lease)).not.toContain('ann@desk')
})

const ENDING = { ...REQUEST, exitWhenPaused: true }

/** Starts a run that ends when paused. Its process gives it orders at an event. */
async function ending(
  isAt: (event: RunEvent) => boolean,
  orders: readonly OwnOrder[],
  before = (_stage: Stage): void => {},
  through = (client: KubeClient): KubeClient => client,
) {
  const stage = await openStage(plainScene({ pods: 3 }))
  const answers: Promise<string>[] = []
  let run: PreparedRun | undefined
  const actor = stage.start(ENDING, async (ports) => {
    const onEvent = (event: RunEvent): void => {
      ports.onEvent(event)
      if (answers.length > 0 || !isAt(event)) return
      before(stage)
      const given = orders.map((order) => run!.order(order, 'ann@desk'))
      const told = given.map((one) =>
        one.then(
          () => 'written',
          (error: Error) => error.name,
        ),
      )
      answers.push(...told)
    }
    run = await prepareRun(ENDING, { ...ports, client: through(ports.client), onEvent })
    return run
  })
  return { stage, actor, answers, run: () => run! }
}

const isStarted = ({ type }: RunEvent): boolean => type === 'started'
const isPodDone = (event: RunEvent): boolean => event.type === 'podState' && event.to === 'done'
const isPaused = ({ type }: RunEvent): boolean => type === 'paused'

test.each([
  { at: 'it starts', isAt: isStarted, pods: 0 },
  { at: 'a pod is done', isAt: isPodDone, pods: 1 },
])('a pause when $at, with nothing under way, ends a run only once it stands on the Lease', async ({ isAt, pods }) => {
  const bed = await ending(isAt, ['pause'])
  const { stage, actor, answers } = bed
  await stage.until(() => actor.end !== undefined)
  expect([actor.end?.outcome, started(actor), await stage.ask(Promise.all(answers))]).toEqual(['paused', pods, ['written']])
  expect(actor.events.filter(isPaused)).toHaveLength(1)
  expect(await standing(bed)).toMatchObject({ order: 'pause', by: 'ann@desk', runs: [runOf(actor)] })

  const next = stage.start(ENDING)
  await stage.until(() => next.end !== undefined)
  expect([next.end?.outcome, runOf(next), started(next)]).toEqual(['paused', runOf(actor), 0])
})

test('a pause that cannot be written ends a run that is to end when paused, once that is known', async () => {
  const { stage, actor, answers } = await ending(isStarted, ['pause'], (one) => one.stopApiServer(25_000))
  await stage.until(() => answers.length > 0)
  expect(await stage.ask(answers[0]!)).toBe('KubeError')
  await stage.until(() => actor.end !== undefined)
  expect([actor.end?.outcome, started(actor)]).toEqual(['paused', 0])
})

test('nor does an API server that never answers again keep the run from its end', async () => {
  const { stage, actor, answers } = await ending(isStarted, ['pause'], (one) => one.silenceApiServer(3_600_000))
  await stage.until(() => answers.length > 0)
  expect(await stage.ask(answers[0]!)).toBe('KubeError')
  await stage.until(() => actor.end !== undefined)
  expect([actor.end?.outcome, started(actor)]).toEqual(['paused', 0])
})

test('an interrupt while the pause is on its way ends the run at once', async () => {
  const { stage, actor, answers } = await ending(isStarted, ['pause'], (one) => one.silenceApiServer(20_000))
  await stage.until(() => actor.events.some(isPaused))
  const at = actor.events.at(-1)!.atMs
  actor.interrupt()
  await stage.until(() => actor.end !== undefined)
  expect(actor.end?.outcome).toBe('interrupted')
  expect(actor.events.at(-1)!.atMs - at).toBeLessThan(15_000)
  expect(await stage.ask(answers[0]!)).toMatch(/^(KubeError|RunOverError)$/)
})

test('a resume while the pause is on its way lets the run go on, and the rest in between ends nothing', async () => {
  const bed = await ending(isStarted, ['pause', 'resume'])
  const { stage, actor, answers } = bed
  await stage.until(() => actor.end !== undefined)
  expect(await stage.ask(Promise.all(answers))).toEqual(['written', 'written'])
  expect([actor.end?.outcome, started(actor)]).toEqual(['done', 3])
})

test.each([
  { last: 'pause', orders: ['pause'], outcome: 'paused', pods: 0 },
  { last: 'resume', orders: ['pause', 'resume'], outcome: 'done', pods: 3 },
] as const)(
  'a $last that is written counts for the end also while this owner cannot read it',
  async ({ orders, outcome, pods }) => {
    let patches = 0
    let isCut = false
    const { stage, actor } = await ending(
      isStarted,
      orders,
      () => {},
      (client) => ({
        ...client,
        async get(path, options) {
          if (isCut && path.includes('/leases/')) throw new KubeError('cut', { kind: 'ambiguous', method: 'GET', path })
          return client.get(path, options)
        },
        async patch(path, ...rest) {
          const answer = await client.patch(path, ...rest)
          if (path.includes('/leases/')) isCut = (patches += 1) === orders.length
          return answer
        },
      }),
    )
    await stage.until(() => isCut)
    await stage.pass(6_000)
    isCut = false
    await stage.until(() => actor.end !== undefined)
    expect([actor.end?.outcome, started(actor)]).toEqual([outcome, pods])
  },
)
