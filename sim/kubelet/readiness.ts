import type { ContainerSpec, ContainerStatus } from './pod.ts'
import type { Timer } from './process.ts'

/**
 * The readiness probes of one pod. A probe whose result cannot have changed does not run. It sleeps until it is poked, and then runs at its
 * next tick, so that a pod at rest costs nothing.
 */
export interface Readiness {
  /** Starts the probes of the containers, if they have any. Repeated calls are allowed. */
  add(containers: readonly ContainerSpec[]): void
  /** Returns the last result of a container. `undefined` where the container's ID has no result yet. */
  result(id: string): boolean | undefined
  has(name: string): boolean
  /** Tells that the result of a probe may have changed. The probe runs at its next tick. */
  poke(name: string): void
  /** Runs a probe now, and counts its ticks from here. */
  trigger(name: string): void
  stop(): void
}

export interface ReadinessOptions {
  now: () => number
  later: (delayMs: number, run: () => void) => Timer
  /** Returns a number in [0, 1). */
  random: () => number
  /** Returns the last status of the container that the kubelet reported. */
  status: (name: string) => ContainerStatus | undefined
  startedAt: (id: string) => number
  answers: (name: string) => boolean
  /** Reports whether a container ran before this life of the kubelet. Its readiness is then not reset. */
  isOlder: (id: string) => boolean
  onResult: (id: string, ready: boolean) => void
}

interface Probe {
  spec: ContainerSpec
  periodMs: number
  phase: number
  id: string
  last: boolean | undefined
  run: number
  timer: Timer | undefined
}

export function createReadiness(options: ReadinessOptions): Readiness {
  const probes = new Map<string, Probe>()
  const results = new Map<string, boolean>()

  function set(id: string, ready: boolean): void {
    if (results.get(id) === ready) return
    results.set(id, ready)
    options.onResult(id, ready)
  }

  function schedule(probe: Probe): void {
    if (probe.timer !== undefined) return
    const since = options.now() - probe.phase
    const delay = probe.periodMs - (((since % probe.periodMs) + probe.periodMs) % probe.periodMs)
    probe.timer = options.later(delay, () => tick(probe))
  }

  function tick(probe: Probe): void {
    probe.timer = undefined
    const status = options.status(probe.spec.name)
    const id = status?.containerID
    if (status === undefined || id === undefined) return
    if (id !== probe.id) {
      results.delete(probe.id)
      probe.id = id
      if (!options.isOlder(id)) set(id, false)
    }
    if (status.state.running === undefined) {
      set(id, false)
      return
    }
    const { initialDelaySeconds = 0, failureThreshold = 3, successThreshold = 1 } = probe.spec.readinessProbe ?? {}
    if (options.now() - options.startedAt(id) < initialDelaySeconds * 1_000) {
      schedule(probe)
      return
    }
    const answer = options.answers(probe.spec.name)
    probe.run = probe.last === answer ? probe.run + 1 : 1
    probe.last = answer
    if (probe.run < (answer ? successThreshold : failureThreshold)) {
      schedule(probe)
      return
    }
    set(id, answer)
  }

  return {
    add(containers) {
      for (const spec of containers) {
        if (spec.readinessProbe === undefined || probes.has(spec.name)) continue
        const periodMs = (spec.readinessProbe.periodSeconds ?? 10) * 1_000
        const phase = options.now() + options.random() * periodMs
        const probe: Probe = { spec, periodMs, phase, id: '', last: undefined, run: 0, timer: undefined }
        probes.set(spec.name, probe)
        schedule(probe)
      }
    },
    result: (id) => results.get(id),
    has: (name) => probes.has(name),
    poke(name) {
      const probe = probes.get(name)
      if (probe !== undefined) schedule(probe)
    },
    trigger(name) {
      const probe = probes.get(name)
      if (probe === undefined) return
      probe.timer?.cancel()
      const delay = 1 + options.random() * 4
      probe.phase = options.now() + delay
      probe.timer = options.later(delay, () => tick(probe))
    },
    stop() {
      for (const probe of probes.values()) probe.timer?.cancel()
      probes.clear()
    },
  }
}
