import type { Addresses } from '../addresses.ts'
import type { ContainerSpec, Pod } from './pod.ts'

/**
 * What runs in the containers, behind the kubelet and its runtime: simulated (simulated-host.ts), or something real, such
 * as processes. Its calls are made once for each container, in the order start, stop (perhaps again), kill; it answers
 * by `tell`, whenever it likes.
 */
export interface ContainerHost {
  /** Of pods that are not on their node's network; addresses of the simulation's own unless given. */
  addresses?: Addresses
  start(container: HostedContainer, tell: ContainerNews): void
  /** SIGTERM, and SIGKILL after the grace period. Calls `done` once the container is gone, also where it was before. */
  stop(id: string, graceMs: number, done: () => void): void
  /** As if it died by itself. */
  kill(id: string, code: number): void
}

export interface HostedContainer {
  /** Of this one start of it; a restart has another. */
  id: string
  pod: Pod
  spec: ContainerSpec
  /** Its pod's, where it has to listen. */
  address: string
}

export interface ContainerNews {
  /**
   * What its readiness probe finds from now on; false until it is told otherwise. The kubelet's own probe asks for it
   * at its next tick, as often as period and thresholds say.
   */
  answers(rightly: boolean): void
  /** It is gone; more than once is fine. */
  exited(code: number): void
}
