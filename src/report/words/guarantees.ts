/** What a load balancer can promise, by the level of its adapter. */
const MEANINGS: Readonly<Record<string, string>> = {
  G3: 'exactly one drain and one restore per pod, in order: the load balancer itself refuses late and stale calls',
  G2: 'exactly one drain and one restore per pod, in order, while the load balancer remembers the operation; else the run stops and asks',
  G1: 'one drain and one restore per pod, in order, given that a call lives a bounded time; anything else is detected and repaired',
  G0: 'at most one drain and one restore per pod: the load balancer cannot be read back, so that its answers are believed, and after a lost one the run stops and asks',
}

/** Such as `G1: one drain and one restore per pod, …`. */
export function guaranteeWords(level: string): string {
  return MEANINGS[level] === undefined ? level : `${level}: ${MEANINGS[level]}`
}
