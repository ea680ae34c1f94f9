import { expect, test } from 'vitest'
import type { Adapter } from '../../adapters/contract.ts'
import { AdapterError } from '../../adapters/contract.ts'
import type { RunPorts } from '../../src/engine/run.ts'
import { prepareRun } from '../../src/engine/run.ts'
import type { KubeClient, PatchOperation } from '../../src/kube/client.ts'
import { KubeError } from '../../src/kube/errors.ts'
import { JOURNAL_KEY } from '../../src/pods/view.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { Level } from '../../sim/load-balancer/write.ts'
import type { TargetState } from './checker/history.ts'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'
import { plainBalancer, plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { isIn, openStage } from './stage.ts'
import { ended, upgradeTo } from './story.ts'

/*
 * Images are long on their way while the load balancer forgets the drain and is asked for it again. They must not land while requests are
 * under way on the pod.
 */

/** A time longer than a second drain. */
const LONGEST_REQUEST_MS = 6_000
const POD = `${NAME}-0`

type Patch = KubeClient['patch']
type Write = { path: string; operations: readonly PatchOperation[]; clock: Clock; write: () => ReturnType<Patch> }

const isOfPod = ({ path }: Write): boolean => path.includes('/pods/')
const isOfImage = (image: string, { operations, ...write }: Write): boolean =>
  isOfPod({ operations, ...write }) && operations.some((one) => one.op === 'replace' && one.value === image)
const isFence = ({ operations, ...write }: Write): boolean =>
  isOfPod({ operations, ...write }) &&
  JSON.stringify(operations).includes('fence') &&
  operations.every(({ path }) => !path.endsWith('/image'))

/** Returns an ambiguous error after a time: the write may have arrived. */
async function unanswered({ path, clock }: Write, forMs: number): Promise<never> {
  await new Promise<void>((resolve) => clock.setTimeout(resolve, forMs))
  throw new KubeError('no answer', { kind: 'ambiguous', method: 'PATCH', path })
}

/** Starts an upgrade to `tag`. Each write of a pod goes to `send`. */
function upgradeSending(stage: Stage, tag: string, send: (write: Write) => ReturnType<Patch>, change = kept): Actor {
  const request = upgradeTo(tag, { onFailure: 'rollback', restartDeadlineMs: 5_000 })
  return stage.start(request, (ports) => {
    const { client, clock } = ports
    const patch: Patch = (path, operations, options) => {
      const write = (): ReturnType<Patch> => client.patch(path, operations, options)
      return options?.dryRun === true ? write() : send({ path, operations, clock, write })
    }
    return prepareRun(request, { ...change(ports), client: { ...client, patch } })
  })
}

const kept = (ports: RunPorts): RunPorts => ports

interface Late {
  /** Lets the images arrive at the API server now. Returns its answer. */
  arrive(): Promise<unknown>
}

/** Starts an upgrade to `tag` without an answer to the first write of `image` for `forMs`, or to the first fence for `fenceForMs`. */
function upgradeWithLate(
  image: string,
  { stage, tag, forMs, fenceForMs }: { stage: Stage; tag: string; forMs: number; fenceForMs?: number },
): { actor: Actor; held: () => Late | undefined; fences: () => number } {
  let late: Late | undefined
  let fences = 0
  const actor = upgradeSending(stage, tag, (write) => {
    if (isFence(write) && ++fences === 1 && fenceForMs !== undefined) return unanswered(write, fenceForMs)
    if (late || !isOfImage(image, write)) return write.write()
    late = { arrive: () => stage.client.patch(write.path, write.operations as PatchOperation[]) }
    return unanswered(write, forMs)
  })
  return { actor, held: () => late, fences: () => fences }
}

/** Returns the times at which the pod was taken out of rotation. */
function drainsOf({ history }: Stage): number[] {
  return history.flatMap((one) => (one.type === 'effect' && one.before.routable && !one.after.routable ? [one.at] : []))
}

const imagesOf = (object: unknown): string =>
  JSON.stringify(
    (object as { spec?: { containers?: { image: string }[] } } | undefined)?.spec?.containers?.map(({ image }) => image),
  )

/** Returns the times at which the pod got other images while it got requests or had requests under way. */
function hitAt({ history }: Stage): number[] {
  let state: TargetState | null = null
  return history.flatMap((one) => {
    if (one.type === 'target' || one.type === 'effect') state = one.after
    const isOfImages = one.type === 'stored' && one.resource === 'pods' && imagesOf(one.before) !== imagesOf(one.after)
    const isHit = state !== null && (state.routable || (state.emptyAt ?? 0) > one.at)
    return isOfImages && isHit ? [one.at] : []
  })
}

/** Opens a stage with a load balancer that forgets the drain at a reload, and with long requests. */
function openForgetful(level: Level = 'G1'): Promise<Stage> {
  return openStage(plainScene({ balancers: [plainBalancer({ level, volatile: true, longestRequestMs: LONGEST_REQUEST_MS })] }))
}

/** Waits until the pod is out again by a second drain. */
async function drainedAgain(stage: Stage): Promise<void> {
  await stage.until(() => drainsOf(stage).length === 2)
  await stage.pass(100)
  expect(stage.world.balancers.get('edge')!.state(POD)!.inFlight).toBeGreaterThan(0)
}

const CASES = (['G1', 'G2'] as const).flatMap((level) =>
  [
    { of: 'an upgrade', tag: 'v2', late: imageOf('v2'), outcome: 'upgraded' },
    { of: 'a rollback', tag: 'bad', late: imageOf('v1'), outcome: 'rolledBack' },
  ].flatMap((one) => [
    { ...one, level, how: 'given up a moment ago', forMs: 950 },
    { ...one, level, how: 'still waited for', forMs: 9_000 },
  ]),
)

test.each(CASES)(
  'images of $of, $how as a load balancer ($level) forgets the drain: once it has been drained again they land no more',
  async ({ level, tag, late, forMs, outcome }) => {
    const stage = await openForgetful(level)
    const { actor, held } = upgradeWithLate(late, { stage, tag, forMs })
    await stage.until(() => held() !== undefined)
    await stage.pass(1_000)
    stage.world.reload('edge')
    await drainedAgain(stage)
    await expect(stage.ask(held()!.arrive())).rejects.toMatchObject({ status: 422 })
    const end = await ended(stage, actor)
    expect(end.pods).toMatchObject([{ outcome }])
    expect(imagesOf(stage.world.pods()[0])).toBe(JSON.stringify([late]))
    expect(hitAt(stage)).toEqual([])
    expect(drainsOf(stage)).toHaveLength(2)
    expect(stage.world.balancers.get('edge')!.state(POD)).toMatchObject({ admin: 'ready' })
  },
)

test('the fence is on its way, and lost, as the load balancer forgets: another one is sent at once', async () => {
  const stage = await openForgetful()
  const { actor, held, fences } = upgradeWithLate(imageOf('v2'), { stage, tag: 'v2', forMs: 9_000, fenceForMs: 10_000 })
  await stage.until(() => held() !== undefined)
  stage.world.reload('edge')
  await stage.until(() => fences() === 1 && drainsOf(stage).length === 2)
  stage.world.reload('edge')
  await stage.until(() => drainsOf(stage).length === 3)
  await stage.pass(100)
  expect(fences()).toBe(2)
  await expect(stage.ask(held()!.arrive())).rejects.toMatchObject({ status: 422 })
  expect((await ended(stage, actor)).pods).toMatchObject([{ outcome: 'upgraded' }])
  expect(hitAt(stage)).toEqual([])
})

// Without a journal, nothing can guard the images. They must be kept out all the same.
test('somebody has removed the journal before they are sent: they are kept out all the same', async () => {
  const stage = await openForgetful()
  const { actor, held } = upgradeWithLate(imageOf('v2'), { stage, tag: 'v2', forMs: 9_000 })
  await stage.until(() => isIn('emptying')(actor))
  const { status } = stage.world.pods()[0] as unknown as { status: { conditions: { type: string }[] } }
  const at = status.conditions.findIndex(({ type }) => type === JOURNAL_KEY)
  const path = `/api/v1/namespaces/${NAMESPACE}/pods/${POD}/status`
  await stage.ask(stage.client.patch(path, [{ op: 'remove', path: `/status/conditions/${at}` }]))
  await stage.until(() => held() !== undefined)
  stage.world.reload('edge')
  await drainedAgain(stage)
  await expect(stage.ask(held()!.arrive())).rejects.toMatchObject({ status: 422 })
  expect((await ended(stage, actor)).pods).toMatchObject([{ outcome: 'upgraded' }])
  expect(hitAt(stage)).toEqual([])
})

// The pod does not fail, and no actor is blamed for its return.
test.each(['throttled', 'ambiguous'] as const)(
  'the load balancer is busy after it has forgotten (%s): it is drained again once it is not, and upgraded',
  async (kind) => {
    const stage = await openForgetful()
    let busyUntil = 0
    const change = (ports: RunPorts): RunPorts => {
      const [edge] = ports.loadBalancers
      const adapter: Adapter = {
        ...edge!.adapter,
        async drain(targets, call) {
          if (ports.clock.now() < busyUntil) throw new AdapterError('edge', kind, 'busy')
          return edge!.adapter.drain(targets, call)
        },
      }
      return { ...ports, loadBalancers: [{ ...edge!, adapter }] }
    }
    let sent = 0
    const actor = upgradeSending(
      stage,
      'v2',
      async (write) => {
        if (!isOfImage(imageOf('v2'), write)) return write.write()
        sent += 1
        await new Promise<void>((resolve) => write.clock.setTimeout(resolve, 3_000))
        return write.write()
      },
      change,
    )
    await stage.until(() => sent === 1)
    busyUntil = actor.host.clock.now() + 1_500
    stage.world.reload('edge')
    expect((await ended(stage, actor)).pods).toMatchObject([{ outcome: 'upgraded' }])
    expect(hitAt(stage)).toEqual([])
  },
)

// The fences must not keep out every write: one has to land.
test('an API server that takes longer than is waited for: they land all the same', async () => {
  const stage = await openForgetful()
  let sent = 0
  const actor = upgradeSending(stage, 'v2', (write) => {
    if (!isOfImage(imageOf('v2'), write)) return write.write()
    sent += 1
    write.clock.setTimeout(() => void write.write().catch(() => {}), 11_000)
    return unanswered(write, 10_000)
  })
  expect((await ended(stage, actor)).pods).toMatchObject([{ outcome: 'upgraded' }])
  expect(sent).toBeLessThanOrEqual(2)
})
