import type { Addresses } from '../addresses.ts'
import type { ContainerSpec, Pod } from './pod.ts'

/**
 * Runs the containers, behind the kubelet and its runtime: simulated (simulated-host.ts), or real, such as processes. For each container,
 * the calls come in the order start, stop (perhaps again), kill. The host answers by `tell` at any time.
 */
export interface ContainerHost {
  /** The addresses of pods outside the network of their node; simulated addresses unless given. */
  addresses?: Addresses
  start(container: HostedContainer, tell: ContainerNews): void
  /** Sends SIGTERM, and SIGKILL after the grace period. Calls `done` once the container is gone, also if it was gone before. */
  stop(id: string, graceMs: number, done: () => void): void
  /** Ends the container as if it died by itself. */
  kill(id: string, code: number): void
}

export interface HostedContainer {
  /** The ID of this start of the container. A restart has another ID. */
  id: string
  pod: Pod
  spec: ContainerSpec
  /** The address of the pod, on which the container has to listen. */
  address: string
}

export interface ContainerNews {
  /**
   * Sets the answer to the readiness probe; false at the start. The kubelet's own probe reads it at its next tick, at the period and
   * thresholds of the probe.
   */
  answers(rightly: boolean): void
  /** Reports that the container is gone. Repeated calls are allowed. */
  exited(code: number): void
}
