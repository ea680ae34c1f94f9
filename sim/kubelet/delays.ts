import type { Random } from '../../src/ports/random.ts'

/** From and to, in milliseconds. */
export type Range = readonly [from: number, to: number]

/** How long things take on a node: what was measured with Kubernetes 1.35.4 and containerd 1.6 on two cores. */
export interface Delays {
  /** From a write in the API until the kubelet has it. */
  deliver: Range
  /** From a status in the kubelet until it is stored. */
  publish: Range
  /** The share of statuses that wait behind others first; what is newest by then is stored, so one may be skipped. */
  queuedShare: number
  queue: Range
  /** From what woke a pod worker until its sync begins. */
  wake: Range
  /** From SIGTERM until a process that dies at once is gone and containerd has said so. */
  stop: Range
  sandbox: Range
  /** Create and start. */
  start: Range
  /** From the start of a container until its process listens. */
  listen: Range
  /** A pull that fails. */
  failedPull: Range
  /** One look at all containers of the node begins so long after the one before. */
  relistPeriod: Range
  unmount: Range
  /** The kubelet's process, from its end until it syncs pods again. */
  restart: Range
}

export const measuredDelays: Delays = {
  deliver: [2, 12],
  publish: [4, 30],
  queuedShare: 0.03,
  queue: [5, 60],
  wake: [1, 6],
  stop: [15, 80],
  sandbox: [80, 250],
  start: [60, 220],
  listen: [3, 30],
  failedPull: [5, 40],
  relistPeriod: [1_006, 1_030],
  unmount: [10, 300],
  restart: [600, 1_500],
}

export function draw(random: Random, [from, to]: Range): number {
  return from + random.next() * (to - from)
}
