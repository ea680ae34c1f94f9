import type { Random } from '../../src/ports/random.ts'

/** The least and the greatest value, in milliseconds. */
export type Range = readonly [from: number, to: number]

/** The durations on a node, as measured with Kubernetes 1.35.4 and containerd 1.6 on two cores. */
export interface Delays {
  /** From a write in the API until the kubelet has it. */
  deliver: Range
  /** From a status in the kubelet until it is stored. */
  publish: Range
  /** The share of statuses that wait behind others first. The newest status is then stored, so a status may be skipped. */
  queuedShare: number
  queue: Range
  /** From the event that wakes a pod worker until its sync begins. */
  wake: Range
  /** From SIGTERM until a process that dies at once is gone and containerd has reported it. */
  stop: Range
  sandbox: Range
  /** From the creation of a container until it is started. */
  start: Range
  /** From the start of a container until its process listens. */
  listen: Range
  /** The duration of a pull that fails. */
  failedPull: Range
  /** The interval between two looks at all containers of the node. */
  relistPeriod: Range
  unmount: Range
  /** From the end of the kubelet's process until the next process syncs pods. */
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
