import { type ContainerSpec, type Pod, preStopSeconds } from './pod.ts'
import { draw } from './delays.ts'
import { isImageReference } from './images.ts'
import type { NodeServices } from './node-services.ts'
import { containerOf } from './pod-status.ts'
import type { RuntimeContainer, RuntimePod } from './runtime.ts'

/** The reason why a container could not be started. `retryInMs` is the time until the next try, where it is known. */
export interface Failure {
  reason: string
  message: string
  retryInMs?: number
}

/** The steps of a sync for single containers, one after another. */
export interface ContainerSteps {
  /** Runs the preStop hook, sends SIGTERM, and sends SIGKILL at the end of the grace period. */
  kill(pod: Pod, spec: ContainerSpec, container: RuntimeContainer, next: () => void): void
  /** Pulls the image if necessary and starts the container, unless it is backing off. `looked` is the state that the sync is based on. */
  start(pod: Pod, spec: ContainerSpec, looked: RuntimePod, next: (failure?: Failure) => void): void
}

const LEAST_GRACE_SECONDS = 2
const DEFAULT_GRACE_SECONDS = 30

export function createContainerSteps(uid: string, services: NodeServices): ContainerSteps {
  const { clock, random, delays, images, runtime, process, crashes, pulls } = services

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
    if (pulls.holds(key)) {
      then({ reason: 'ImagePullBackOff', message: `Back-off pulling image "${image}"` })
      return
    }
    if (known !== undefined && known.pull !== 'fails') {
      process.later(known.pull!.ms, () => then())
      return
    }
    process.later(draw(random, delays.failedPull), () => {
      pulls.next(key, clock.now())
      then({ reason: 'ErrImagePull', message: `failed to pull and unpack image "${image}": not found` })
    })
  }

  /** Holds back a dead container for a growing time. The key contains the image, so a container with another image starts at once. */
  function backOff(pod: Pod, spec: ContainerSpec, looked: RuntimePod): Failure | undefined {
    const dead = looked.containers.find((one) => one.name === spec.name && one.exit !== undefined)
    if (dead === undefined) return undefined
    const key = `${uid} ${spec.name} ${spec.image}`
    const endedAt = dead.exit!.atMs
    if (!crashes.holdsSince(key, endedAt)) {
      crashes.next(key, endedAt)
      return undefined
    }
    const lengthMs = crashes.lengthMs(key)
    const message = `back-off ${lengthMs / 1_000}s restarting failed container=${spec.name} pod=${pod.metadata.name}`
    return { reason: 'CrashLoopBackOff', message, retryInMs: endedAt + lengthMs - clock.now() }
  }

  return {
    kill(pod, spec, container, next) {
      const grace = graceSeconds(pod)
      const hook = Math.min(preStopSeconds(spec), grace)
      const isRunning = containerOf(runtime.look(uid), spec.name)?.exit === undefined
      const term = (): void => {
        const left = Math.max(grace - hook, LEAST_GRACE_SECONDS)
        runtime.stopContainer(uid, container.id, left * 1_000, () => process.receive(next))
      }
      if (hook > 0 && isRunning) process.later(hook * 1_000 + draw(random, delays.stop), term)
      else term()
    },
    start(pod, spec, looked, next) {
      const held = backOff(pod, spec, looked)
      if (held !== undefined) {
        next(held)
        return
      }
      pull(spec.image, (failure) => {
        if (failure !== undefined) {
          next(failure)
          return
        }
        const attempt = containerOf(looked, spec.name)?.attempt
        runtime.startContainer(pod, spec, attempt === undefined ? 0 : attempt + 1, () => process.receive(() => next()))
      })
    },
  }
}

function graceSeconds({ metadata, spec }: Pod): number {
  const own = spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS
  return metadata.deletionTimestamp === undefined ? own : (metadata.deletionGracePeriodSeconds ?? own)
}
