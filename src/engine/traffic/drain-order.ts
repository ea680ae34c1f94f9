import type { LoadBalancer } from '../request.ts'

/** The names of the load balancers by their turns, the lowest turn first. */
export function drainOrderOf(loadBalancers: readonly Pick<LoadBalancer, 'name' | 'drainTurn'>[]): string[][] {
  const turns = Map.groupBy(loadBalancers, ({ drainTurn = 0 }) => drainTurn)
  return [...turns].toSorted(([a], [b]) => a - b).map(([, some]) => some.map(({ name }) => name))
}
