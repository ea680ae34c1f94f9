import type { Random } from '../../src/ports/random.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { Store } from '../api-server/server.ts'
import type { BackOff } from './back-off.ts'
import type { Behaviour } from './behaviour.ts'
import { type Delays, draw } from './delays.ts'
import { type Images, isImageReference } from './images.ts'
import { type ContainerSpec, type Pod, type PodStatus, condition, isReady, isSidecar, preStopSeconds } from './pod.ts'
import { podActions } from './pod-actions.ts'
import { containerOf, podStatus, readyConditions } from './pod-status.ts'
import type { Process, Timer } from './process.ts'
import { createReadiness } from './readiness.ts'
import type { Runtime, RuntimeContainer, RuntimePod } from './runtime.ts'
import { isSameJson } from '../api-server/same-json.ts'
import { createStatusWriter } from './status-writer.ts'

/**
 * The kubelet's pod worker: one sync after another, each from the newest spec and from a look at the runtime that is
 * younger than the sync before. A sync tells the status first, of the containers as they were, then kills, then starts;
 * what came of it is told by the next sync, which the next look at the runtime wakes.
 */
export interface PodWorker {
  readonly uid: string
  /** What the API says now; asks for a sync where more than the status differs. */
  update(pod: Pod): void
  /** The pod is gone from the API: nothing is told any more, and everything stops. */
  removed(): void
  /** Somebody else wrote its status. */
  statusWritten(pod: Pod): void
  /** The runtime's state as of a look; `changed` where a container or sandbox of it has started or ended since. */
  looked(runtime: RuntimePod, changed: boolean): void
  /** What a probe of this container would find has changed. */
  answerChanged(name: string): void
}

export interface NodeServices {
  clock: Clock
  random: Random
  delays: Delays
  behaviour: Behaviour
  images: Images
  store: Store
  runtime: Runtime
  process: Process
  crashes: BackOff
  pulls: BackOff
  nodeAddress: string
  instant: () => string
  /** When this life of the kubelet began. */
  startedAt: number
  /** When the runtime was looked at last. */
  lookedAt: () => number
  /** Calls `looked` at the next look, even if nothing has changed. */
  lookNext: (uid: string) => void
  /** When statuses are compared with what the API has. */
  untilReconcile: () => number
  onEnd: (uid: string) => void
}

type Failure = { reason: string; message: string; retryInMs?: number }

const RETRY_MS = 10_000
const LEAST_GRACE_SECONDS = 2
const DEFAULT_GRACE_SECONDS = 30

export function createPodWorker(first: Pod, services: NodeServices): PodWorker {
  const { clock, random, delays, behaviour, images, runtime, process } = services
  const { uid, namespace = 'default', name } = first.metadata
  let pod = first
  let cache: RuntimePod = runtime.look(uid)
  let cacheAt = Number.NEGATIVE_INFINITY
  let lastSyncAt = Number.NEGATIVE_INFINITY
  let stage: 'syncing' | 'terminating' | 'terminated' = 'syncing'
  let working = false
  let pending = false
  let waiting: Pod | undefined
  let retry: Timer | undefined
  let status: PodStatus | undefined = first.status?.containerStatuses === undefined ? undefined : first.status
  let gone = false
  let probing = false
  const reasons = new Map<string, Failure>()

  const writer = createStatusWriter({
    uid,
    namespace,
    name,
    store: services.store,
    process,
    random: () => random.next(),
    delays,
    onRemoved: end,
  })
  const readiness = createReadiness({
    now: () => clock.now(),
    later: (delayMs, run) => process.later(delayMs, run),
    random: () => random.next(),
    status: (of) => statusOf(of),
    startedAt: (id) => runtime.look(uid).containers.find((one) => one.id === id)?.startedAtMs ?? 0,
    answers: (of) => runtime.answers(uid, of),
    isOlder,
    onResult: setReady,
  })

  function statusOf(of: string) {
    return [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])].find((one) => one.name === of)
  }

  function isOlder(id: string): boolean {
    const container = runtime.look(uid).containers.find((one) => one.id === id)
    return container !== undefined && container.startedAtMs < services.startedAt
  }

  function later(range: readonly [number, number], run: () => void): void {
    process.later(draw(random, range), run)
  }

  /* Which sync is next */

  function request(): void {
    if (working) pending = true
    else begin()
  }

  function begin(): void {
    working = true
    pending = false
    // The spec is taken here: one that comes while this sync waits for a look is for the next sync.
    if (Math.max(cacheAt, services.lookedAt()) > lastSyncAt) {
      const taken = pod
      later(delays.wake, () => sync(taken))
    } else {
      waiting = pod
      services.lookNext(uid)
    }
  }

  function done(failures: readonly Failure[] = []): void {
    lastSyncAt = clock.now()
    retry?.cancel()
    retry = undefined
    if (failures.length > 0) {
      const delayMs = Math.min(...failures.map(({ retryInMs }) => Math.max(retryInMs ?? RETRY_MS, 0)))
      // The queue of retries is looked at once a second.
      retry = process.later(delayMs * (1 + random.next() / 2) + random.next() * 1_000, request)
    }
    working = false
    if (pending) begin()
  }

  function sync(taken: Pod): void {
    if (stage === 'terminated') terminated(taken)
    else if (stage === 'terminating') terminate(taken)
    else syncPod(taken)
  }

  /* The status */

  function generate(taken: Pod, looked: RuntimePod, terminal: boolean): PodStatus {
    return podStatus({
      pod: taken,
      runtime: looked,
      old: status ?? taken.status,
      reasons,
      isReady: (container, id) => isContainerReady(taken, container, id),
      terminal,
      nodeAddress: services.nodeAddress,
      now: services.instant(),
    })
  }

  function isContainerReady(taken: Pod, container: ContainerSpec, id: string): boolean {
    const result = readiness.result(id)
    if (result === true) return true
    // Before the probes of this life have begun, or without one, a container that runs is ready.
    let ready = !readiness.has(container.name)
    if (!ready) readiness.trigger(container.name)
    if (isOlder(id)) {
      if (!ready && result === undefined) ready = true
      if (container.readinessProbe !== undefined && !isReady(taken)) ready = false
    }
    return ready
  }

  function setStatus(next: PodStatus): void {
    if (gone) return
    const before = status
    if (before !== undefined && isSameJson(before, next)) return
    status = next
    for (const one of [...(next.containerStatuses ?? []), ...(next.initContainerStatuses ?? [])]) {
      const former = before?.containerStatuses?.find((other) => other.name === one.name)
      const isSame =
        former?.containerID === one.containerID && (former?.state.running === undefined) === (one.state.running === undefined)
      if (!isSame) readiness.poke(one.name)
    }
    writer.put(next)
  }

  /** A probe's result goes into the status at once, by the container's ID, and then asks for a sync. */
  function setReady(id: string, ready: boolean): void {
    if (status !== undefined && !gone) {
      const change = <One extends { containerID?: string; ready: boolean }>(one: One): One =>
        one.containerID === id && one.ready !== ready ? { ...one, ready } : one
      const containers = status.containerStatuses?.map(change)
      const init = status.initContainerStatuses?.map(change)
      const [podReady, containersReady] = readyConditions(
        pod,
        status,
        [...(init ?? []), ...(containers ?? [])],
        status.phase,
        services.instant(),
      )
      const conditions = status.conditions.map((one) =>
        one.type === 'Ready' ? podReady! : one.type === 'ContainersReady' ? containersReady! : one,
      )
      const isKnown = [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])].some(
        (one) => one.containerID === id && one.ready !== ready,
      )
      if (isKnown) {
        setStatus({
          ...status,
          conditions,
          ...(init === undefined ? {} : { initContainerStatuses: init }),
          ...(containers === undefined ? {} : { containerStatuses: containers }),
        })
      }
    }
    if (stage === 'syncing') request()
  }

  /* A sync */

  function syncPod(taken: Pod): void {
    const looked = cache
    const actions = podActions(taken, looked)
    const isChange = actions.kill.length > 0
    const told = generate(taken, looked, false)
    if (behaviour.observedGenerationLate !== true || !isChange) setStatus(distorted(told, taken, actions.kill))
    if (told.phase === 'Succeeded' || told.phase === 'Failed') {
      stage = 'terminating'
      pending = true
      done()
      return
    }
    if (!probing) {
      probing = true
      readiness.add([...(taken.spec.initContainers ?? []).filter(isSidecar), ...taken.spec.containers])
    }
    const failures: Failure[] = []
    const starts = [...actions.startInit, ...actions.start]
    const finish = (): void => done(failures)
    const startAll = (): void => {
      inOrder(starts, (container, next) => startContainer(taken, container, looked, failures, next), finish)
    }
    inOrder(
      actions.kill,
      ({ spec, container }, next) => killContainer(taken, spec, container, next),
      () => {
        if (!actions.newSandbox) {
          startAll()
          return
        }
        runtime.stopSandbox(uid)
        runtime.startSandbox(taken, () => process.receive(startAll))
      },
    )
  }

  function distorted(next: PodStatus, taken: Pod, kill: readonly { spec: ContainerSpec }[]): PodStatus {
    if (kill.length === 0 || (behaviour.readyResetAtOnce !== true && behaviour.imageIdEarly !== true)) return next
    const changed = new Set(kill.map(({ spec }) => spec.name))
    const containerStatuses = (next.containerStatuses ?? []).map((one) => {
      const image = taken.spec.containers.find((spec) => spec.name === one.name)?.image ?? ''
      if (!changed.has(one.name)) return one
      return behaviour.imageIdEarly === true
        ? { ...one, image: images.shownName(image), imageID: images.get(image)?.digest ?? one.imageID }
        : { ...one, ready: false }
    })
    const [ready, containersReady] = readyConditions(taken, next, containerStatuses, next.phase, services.instant())
    const conditions = next.conditions.map((one) =>
      one.type === 'Ready' ? ready! : one.type === 'ContainersReady' ? containersReady! : one,
    )
    return { ...next, containerStatuses, conditions }
  }

  function killContainer(taken: Pod, spec: ContainerSpec, container: RuntimeContainer, next: () => void): void {
    const grace = graceSeconds(taken)
    const hook = Math.min(preStopSeconds(spec), grace)
    const runs = containerOf(runtime.look(uid), spec.name)?.exit === undefined
    const term = (): void => {
      const left = Math.max(grace - hook, LEAST_GRACE_SECONDS)
      runtime.stopContainer(uid, container.id, left * 1_000, () => process.receive(next))
    }
    if (hook > 0 && runs) process.later(hook * 1_000 + draw(random, delays.stop), term)
    else term()
  }

  function startContainer(taken: Pod, container: ContainerSpec, looked: RuntimePod, failures: Failure[], next: () => void): void {
    const fail = (failure: Failure): void => {
      failures.push(failure)
      reasons.set(container.name, failure)
      next()
    }
    const dead = looked.containers.find((one) => one.name === container.name && one.exit !== undefined)
    if (dead !== undefined) {
      const key = `${uid} ${container.name} ${container.image}`
      const endedAt = dead.exit!.atMs
      if (services.crashes.holdsSince(key, endedAt)) {
        const lengthMs = services.crashes.lengthMs(key)
        const message = `back-off ${lengthMs / 1_000}s restarting failed container=${container.name} pod=${name}`
        fail({ reason: 'CrashLoopBackOff', message, retryInMs: endedAt + lengthMs - clock.now() })
        return
      }
      services.crashes.next(key, endedAt)
    }
    pull(container.image, (failure) => {
      if (failure !== undefined) {
        fail(failure)
        return
      }
      const attempt = containerOf(looked, container.name)?.attempt
      runtime.startContainer(taken, container, attempt === undefined ? 0 : attempt + 1, () =>
        process.receive(() => {
          reasons.delete(container.name)
          next()
        }),
      )
    })
  }

  function pull(image: string, then: (failure?: Failure) => void): void {
    if (!isImageReference(image)) {
      then({ reason: 'InvalidImageName', message: `Failed to apply default image tag "${image}": couldn't parse image name` })
      return
    }
    const known = images.get(image)
    if (known !== undefined && known.pull === undefined) {
      then()
      return
    }
    const key = `${uid} ${image}`
    if (services.pulls.holds(key)) {
      then({ reason: 'ImagePullBackOff', message: `Back-off pulling image "${image}"` })
      return
    }
    if (known !== undefined && known.pull !== 'fails') {
      process.later(known.pull!.ms, () => then())
      return
    }
    later(delays.failedPull, () => {
      services.pulls.next(key, clock.now())
      then({ reason: 'ErrImagePull', message: `failed to pull and unpack image "${image}": not found` })
    })
  }

  /* The end */

  function terminate(taken: Pod): void {
    setStatus(generate(taken, cache, false))
    const now = runtime.look(uid)
    const running = (specs: readonly ContainerSpec[]): { spec: ContainerSpec; container: RuntimeContainer }[] =>
      specs.flatMap((spec) => {
        const container = containerOf(now, spec.name)
        return container === undefined || container.exit !== undefined ? [] : [{ spec, container }]
      })
    // Sidecars go last, in reverse order.
    atOnce(
      running(taken.spec.containers),
      ({ spec, container }, next) => killContainer(taken, spec, container, next),
      () =>
        inOrder(
          running(taken.spec.initContainers ?? []).toReversed(),
          ({ spec, container }, next) => killContainer(taken, spec, container, next),
          () => {
            runtime.stopSandbox(uid)
            setStatus(generate(taken, runtime.look(uid), true))
            stage = 'terminated'
            pending = true
            done()
          },
        ),
    )
  }

  function terminated(taken: Pod): void {
    setStatus(generate(taken, cache, true))
    later(delays.unmount, () => {
      readiness.stop()
      if (gone) end()
      else if (pod.metadata.deletionTimestamp !== undefined) writer.finish()
      done()
      stage = 'terminated'
    })
  }

  function end(): void {
    retry?.cancel()
    readiness.stop()
    runtime.forget(uid)
    services.onEnd(uid)
  }

  function graceSeconds({ metadata, spec }: Pod): number {
    const own = spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS
    return metadata.deletionTimestamp === undefined ? own : (metadata.deletionGracePeriodSeconds ?? own)
  }

  return {
    uid,
    update(next) {
      const before = pod
      pod = next
      if (next.metadata.deletionTimestamp !== undefined && stage === 'syncing') stage = 'terminating'
      const isOver = stage === 'terminated' && before.metadata.deletionTimestamp === undefined
      if (isOver && !working && next.metadata.deletionTimestamp !== undefined) writer.finish()
      else request()
    },
    removed() {
      gone = true
      if (stage === 'syncing') stage = 'terminating'
      request()
    },
    statusWritten(next) {
      pod = next
      const differs = ['Ready', 'ContainersReady'].some(
        (type) => condition(next.status, type)?.status !== condition(status, type)?.status,
      )
      if (differs && status !== undefined) process.later(services.untilReconcile(), () => writer.reconcile())
      const gates = next.spec.readinessGates
      if (gates === undefined || status === undefined) return
      const [ready] = readyConditions(next, status, status.containerStatuses ?? [], status.phase, services.instant())
      if (ready!.status !== condition(status, 'Ready')?.status) request()
    },
    looked(looked, changed) {
      if (changed) {
        cache = looked
        cacheAt = clock.now()
      }
      if (waiting !== undefined) {
        const taken = waiting
        waiting = undefined
        later(delays.wake, () => sync(taken))
        // The look's own events come behind: they ask for one more sync.
        if (changed) pending = true
      } else if (changed) request()
    },
    answerChanged: (of) => readiness.poke(of),
  }
}

function inOrder<Item>(items: readonly Item[], each: (item: Item, next: () => void) => void, then: () => void): void {
  const [first, ...rest] = items
  if (first === undefined) then()
  else each(first, () => inOrder(rest, each, then))
}

function atOnce<Item>(items: readonly Item[], each: (item: Item, next: () => void) => void, then: () => void): void {
  let left = items.length
  if (left === 0) then()
  for (const item of items) each(item, () => --left === 0 && then())
}
