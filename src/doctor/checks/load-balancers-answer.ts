import { type Check, found, skippedFor, together } from '../check.ts'
import type { Finding } from '../findings.ts'
import type { BalancerState } from '../gathered.ts'

/** Each load balancer of the config can be read, and accepts the effects that a run would send. */
export const loadBalancersAnswer: Check = {
  name: 'load-balancers-answer',
  examine: ({ balancers }) =>
    balancers === undefined ? skippedFor({ code: 'no-config' }) : together(...balancers.map((one) => examine(one))),
}

function examine(state: BalancerState): ReturnType<Check['examine']> {
  const unasked = state.lock?.unasked
  return together(
    found([...unread(state), ...impossible(state), ...lock(state)]),
    ...(unasked === undefined ? [] : [skippedFor({ code: 'rights-not-asked', because: unasked })]),
  )
}

function unread({ name: loadBalancer, unread: why }: BalancerState): Finding[] {
  if (why === undefined) return []
  return [{ code: why.refuses ? 'load-balancer-refuses' : 'load-balancer-unreachable', loadBalancer, because: why.because }]
}

function impossible({ name: loadBalancer, impossible: some }: BalancerState): Finding[] {
  const [first] = some
  return first === undefined ? [] : [{ code: 'effect-impossible', loadBalancer, ...first, others: some.length - 1 }]
}

function lock({ name: loadBalancer, lock: own }: BalancerState): Finding[] {
  if (own?.unreachable !== undefined) return [{ code: 'lock-unreachable', loadBalancer, because: own.unreachable }]
  if (own === undefined || own.missing.length === 0) return []
  return [{ code: 'lock-rights-missing', loadBalancer, namespace: own.namespace, rights: [...own.missing] }]
}
