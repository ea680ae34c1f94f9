/** The guarantees of a load balancer, by the level of its adapter. */
const MEANINGS: Readonly<Record<string, string>> = {
  G3: 'exactly one drain and one restore per pod, in order: the load balancer itself refuses late and stale calls',
  G2: 'exactly one drain and one restore per pod, in order, while the load balancer remembers the operation; else the run stops and asks',
  G1: 'one drain and one restore per pod, in order, given that a call lives a bounded time; anything else is detected and repaired',
  G0: 'at most one drain and one restore per pod: the load balancer cannot be read back, so that its answers are believed, and after a lost one the run stops and asks',
}

interface Hazards {
  inFlight: string
  disruptsOthers: boolean
  lock?: { namespace: string; lease: string }
}

/** Properties of a load balancer that an operator should know before a change. */
export function hazardWords({ inFlight, disruptsOthers, lock }: Hazards): string[] {
  return [
    ...(inFlight === 'none' ? ['it does not count what is under way on a pod, which has the settle time to end'] : []),
    ...(inFlight === 'requests-only' ? ['it counts requests, and no connection that is kept or upgraded'] : []),
    ...(disruptsOthers ? ['each change of it cuts kept connections of other pods too'] : []),
    ...(lock === undefined ? [] : [`it is changed by one sluice at a time, which has the Lease ${lock.namespace}/${lock.lease}`]),
  ]
}

/** The level with its meaning, such as `G1: one drain and one restore per pod, …`. */
export function guaranteeWords(level: string): string {
  return MEANINGS[level] === undefined ? level : `${level}: ${MEANINGS[level]}`
}
