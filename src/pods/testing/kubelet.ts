import type { PodView } from '../glossary.ts'
import { testPod } from './raw-pod.ts'

/**
 * One container under a kubelet, step by step. The sync for a generation first reports `observedGeneration`, and then kills and starts; a
 * crashed container is restarted from the spec of the sync that finds it dead; statuses reach the API server late, and some never do.
 */
export type KubeletStep = 'deliver' | 'sync' | 'kill' | 'start' | 'crash' | 'publish' | 'merge'

export interface Kubelet {
  step(step: KubeletStep): void
  /** The pod as the API server stores it now. */
  pod(): PodView
  /** Patches the image; returns the generation. */
  patch(image: string): number
  /** Carries out all outstanding steps, without crashes. */
  settle(): void
  /** The generation of the spec that a container was started from. */
  startedFrom(containerId: string): number
}

interface Spec {
  image: string
  generation: number
}

interface Status {
  observedGeneration: number
  id: string
  image: string
  running: boolean
}

/** Tags by digest. The CRI reports the first tag for all tags of a digest, whichever was requested. */
export type Registry = Readonly<Record<string, string>>

export function createKubelet(image: string, registry: Registry): Kubelet {
  const origins = new Map([['containerd://c0', 1]])
  const digest = (of: string): string => registry[of]!
  const shown = (of: string): string => Object.keys(registry).find((tag) => digest(tag) === digest(of))!
  let spec: Spec = { image, generation: 1 }
  let delivered = spec
  let known = spec
  let container = { id: 'containerd://c0', image, running: true }
  let replacing = false
  let stored: Status = { observedGeneration: 1, ...container }
  const outbox: Status[] = []

  function tell(): void {
    outbox.push({ observedGeneration: known.generation, ...container })
  }

  function step(what: KubeletStep): void {
    switch (what) {
      case 'deliver':
        delivered = spec
        return
      case 'sync':
        if (replacing) return
        known = delivered
        replacing = !container.running || container.image !== known.image
        tell()
        return
      case 'kill':
      case 'crash':
        if (!container.running || (what === 'kill' && !replacing)) return
        container = { ...container, running: false }
        tell()
        return
      case 'start': {
        if (!replacing || container.running) return
        const id = `containerd://c${origins.size}`
        origins.set(id, known.generation)
        container = { id, image: known.image, running: true }
        replacing = false
        tell()
        return
      }
      case 'publish':
        stored = outbox.shift() ?? stored
        return
      case 'merge':
        if (outbox.length > 1) outbox.shift()
    }
  }

  return {
    step,
    pod: () =>
      testPod({
        generation: spec.generation,
        observedGeneration: stored.observedGeneration,
        ready: stored.running,
        containers: [
          {
            name: 'app',
            image: spec.image,
            status: {
              id: stored.id,
              imageId: digest(stored.image),
              image: shown(stored.image),
              running: stored.running,
              ready: stored.running,
            },
          },
        ],
      }),
    patch(wanted) {
      if (wanted !== spec.image) spec = { image: wanted, generation: spec.generation + 1 }
      return spec.generation
    },
    settle() {
      // Two rounds, because the steps under way may belong to an older spec.
      for (const what of ['kill', 'start', 'deliver', 'sync', 'kill', 'start'] as const) step(what)
      while (outbox.length > 0) step('publish')
    },
    startedFrom: (id) => origins.get(id)!,
  }
}
