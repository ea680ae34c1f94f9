import { distorted } from './behaviour.ts'
import { draw } from './delays.ts'
import { type Failure, createContainerSteps } from './container-steps.ts'
import { type ContainerSpec, type ContainerStatus, type Pod, type PodStatus, condition, isReady, isSidecar } from './pod.ts'
import type { NodeServices } from './node-services.ts'
import { podActions } from './pod-actions.ts'
import { containerOf, podStatus } from './pod-status.ts'
import { readyConditions, withProbeResult } from './ready-conditions.ts'
import type { Timer } from './process.ts'
import { createReadiness } from './readiness.ts'
import type { RuntimeContainer, RuntimePod } from './runtime.ts'
import { isSameJson } from '../api-server/same-json.ts'
import { createStatusWriter } from './status-writer.ts'

/**
 * The pod worker of the kubelet: one sync after another, each from the newest spec and from a look at the runtime after the last sync. A
 * sync first reports the status as it was, then kills, then starts. The next look wakes the next sync, which reports the result.
 */
export interface PodWorker {
  readonly uid: string
  /** Takes the present pod of the API. Asks for a sync where more than the status differs. */
  update(pod: Pod): void
  /** Tells that the pod is gone from the API: the worker reports no more, and stops all containers. */
  removed(): void
  /** Tells that another writer changed the status of the pod. */
  statusWritten(pod: Pod): void
  /** Takes the state of the runtime at a look. `changed` is true where a container or sandbox of the pod has started or ended since. */
  looked(runtime: RuntimePod, changed: boolean): void
  /** Tells that the result of a probe of this container has changed. */
  answerChanged(name: string): void
}

type Stage = 'syncing' | 'terminating' | 'terminated'

/** The input of a sync. */
interface Taken {
  pod: Pod
  stage: Stage
}

const RETRY_MS = 10_000
/** A container that is younger than this at a restart of the kubelet loses Ready until it is probed. An older container keeps it. */
const RESTART_GRACE_MS = 10_000

export function createPodWorker(first: Pod, services: NodeServices): PodWorker {
  const { clock, random, delays, behaviour, runtime, process } = services
  const { uid, namespace = 'default', name } = first.metadata
  let pod = first
  let cache: RuntimePod = runtime.look(uid)
  let cacheAt = Number.NEGATIVE_INFINITY
  let lastSyncAt = Number.NEGATIVE_INFINITY
  let stage: Stage = 'syncing'
  let working = false
  let pending = false
  let waiting: Taken | undefined
  let retry: Timer | undefined
  let status: PodStatus | undefined = first.status?.containerStatuses === undefined ? undefined : first.status
  let gone = false
  let probing = false
  const reasons = new Map<string, Failure>()
  const steps = createContainerSteps(uid, services)

  const writer = createStatusWriter({
    uid,
    namespace,
    name,
    store: services.store,
    process,
    random,
    delays,
    onRemoved: end,
  })
  const readiness = createReadiness({
    now: () => clock.now(),
    later: (delayMs, run) => process.later(delayMs, run),
    random: () => random.next(),
    status: (of) => allStatuses(status).find((one) => one.name === of),
    startedAt: (id) => runtime.look(uid).containers.find((one) => one.id === id)?.startedAtMs ?? 0,
    answers: (of) => runtime.answers(uid, of),
    isOlder,
    onResult: setReady,
  })

  function isOlder(id: string): boolean {
    const container = runtime.look(uid).containers.find((one) => one.id === id)
    return container !== undefined && container.startedAtMs < services.startedAt - RESTART_GRACE_MS
  }

  function later(range: readonly [number, number], run: () => void): void {
    process.later(draw(random, range), run)
  }

  /* The choice of the next sync */

  function request(): void {
    if (working) pending = true
    else begin()
  }

  function begin(): void {
    working = true
    pending = false
    // The sync takes its input here. Later changes are left for the next sync, even while this one waits for a look.
    const taken = { pod, stage }
    if (Math.max(cacheAt, services.lookedAt()) > lastSyncAt) {
      later(delays.wake, () => sync(taken))
    } else {
      waiting = taken
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

  function sync(taken: Taken): void {
    if (taken.stage === 'terminated') terminated(taken.pod)
    else if (taken.stage === 'terminating') terminate(taken.pod)
    else syncPod(taken.pod)
  }

  /* The status */

  function generate(taken: Pod, looked: RuntimePod, terminal: boolean): PodStatus {
    const { observedGeneration, ...told } = podStatus({
      pod: taken,
      runtime: looked,
      old: status ?? taken.status,
      reasons,
      isReady: (container, id) => isContainerReady(taken, container, id),
      terminal,
      nodeAddress: services.nodeAddress,
      now: services.instant(),
    })
    return behaviour.reportsNoGeneration === true || observedGeneration === undefined ? told : { observedGeneration, ...told }
  }

  function isContainerReady(taken: Pod, container: ContainerSpec, id: string): boolean {
    const result = readiness.result(id)
    if (result === true) return true
    // A running container is ready without a probe, and before the probes of this life have begun.
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
    const former = allStatuses(before)
    for (const [index, { name: of, containerID, state }] of allStatuses(next).entries()) {
      const one = former[index]
      const isSame = one?.containerID === containerID && (one?.state.running === undefined) === (state.running === undefined)
      if (!isSame) readiness.poke(of)
    }
    writer.put(next)
  }

  /** Writes the result of a probe into the status at once, by the ID of the container, and then asks for a sync. */
  function setReady(id: string, ready: boolean): void {
    const told = status && withProbeResult(pod, status, id, ready, services.instant())
    if (told !== undefined) setStatus(told)
    if (stage === 'syncing') request()
  }

  /* A sync */

  function syncPod(taken: Pod): void {
    const looked = cache
    const actions = podActions(taken, looked)
    const told = generate(taken, looked, false)
    if (behaviour.observedGenerationLate !== true || actions.kill.length === 0) {
      const replaced = actions.kill.map(({ spec }) => spec.name)
      setStatus(distorted(behaviour, told, taken, replaced, { images: services.images, now: services.instant() }))
    }
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
    const start = (spec: ContainerSpec, next: () => void): void =>
      steps.start(taken, spec, looked, (failure) => {
        if (failure === undefined) reasons.delete(spec.name)
        else {
          failures.push(failure)
          reasons.set(spec.name, failure)
        }
        next()
      })
    const startAll = (): void => inOrder(starts, start, () => done(failures))
    inOrder(
      actions.kill,
      ({ spec, container }, next) => steps.kill(taken, spec, container, next),
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
      ({ spec, container }, next) => steps.kill(taken, spec, container, next),
      () =>
        inOrder(
          running(taken.spec.initContainers ?? []).toReversed(),
          ({ spec, container }, next) => steps.kill(taken, spec, container, next),
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
    })
  }

  function end(): void {
    retry?.cancel()
    readiness.stop()
    runtime.forget(uid)
    services.onEnd(uid)
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
        // The events of the look come later, and ask for one more sync.
        if (changed) pending = true
      } else if (changed) request()
    },
    answerChanged: (of) => readiness.poke(of),
  }
}

function allStatuses(status: PodStatus | undefined): ContainerStatus[] {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
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
