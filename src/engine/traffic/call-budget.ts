import type { Adapter, EffectResult } from '../../../adapters/contract.ts'
import { AdapterError } from '../../../adapters/contract.ts'
import { pause } from '../../kube/pause.ts'
import type { Clock } from '../../ports/clock.ts'
import type { LoadBalancer, Rate } from '../request.ts'

interface Budget {
  /** Resolves when the next call may begin, in the order of the requests. */
  take(): Promise<void>
  /** Lets no call begin for `forMs` milliseconds. */
  hold(forMs: number): void
}

function createBudget(clock: Clock, { calls, perMs }: Rate): Budget {
  /** The beginnings of the last calls, the oldest first. */
  const begun: number[] = []
  let heldUntil = 0
  let turn: Promise<void> = Promise.resolve()

  /** Waits for the earlier requests, and then for the budget. */
  async function after(others: Promise<void>): Promise<void> {
    await others
    for (;;) {
      const oldest = begun.length < calls ? undefined : begun[0]!
      const freeAt = Math.max(heldUntil, oldest === undefined ? 0 : oldest + perMs)
      const waitMs = freeAt - clock.now()
      if (waitMs <= 0) break
      await pause(clock, waitMs)
    }
    begun.push(clock.now())
    if (begun.length > calls) begun.shift()
  }

  return {
    take() {
      turn = after(turn)
      return turn
    },
    hold(forMs) {
      heldUntil = Math.max(heldUntil, clock.now() + forMs)
    },
  }
}

/** The longest hold. Within it, deadlines and interrupts are looked at again. */
const LONGEST_HOLD_MS = 10_000

/**
 * Makes the calls of the load balancers wait for the budget of their account. The deadline of a call begins once the call may be sent. A
 * throttled answer holds all calls of the account.
 */
export function withinRates(loadBalancers: readonly LoadBalancer[], clock: Clock): LoadBalancer[] {
  const budgets = new Map<string, Budget>()
  return loadBalancers.map((loadBalancer) => {
    const { rate, adapter } = loadBalancer
    if (rate === undefined) return loadBalancer
    const budget = budgets.get(rate.account) ?? createBudget(clock, rate)
    budgets.set(rate.account, budget)
    return { ...loadBalancer, adapter: withinBudget(adapter, budget, rate) }
  })
}

function withinBudget(adapter: Adapter, budget: Budget, { perMs }: Rate): Adapter {
  function noteThrottled(error: unknown): void {
    if (!(error instanceof AdapterError) || error.kind !== 'throttled') return
    budget.hold(Math.min(error.retryAfterMs ?? perMs, LONGEST_HOLD_MS))
  }

  async function inTurn<Answer>(call: () => Promise<Answer>): Promise<Answer> {
    await budget.take()
    try {
      return await call()
    } catch (error) {
      noteThrottled(error)
      throw error
    }
  }

  async function effect(call: () => Promise<Map<string, EffectResult>>): Promise<Map<string, EffectResult>> {
    const results = await inTurn(call)
    for (const result of results.values()) if (result.outcome === 'failed') noteThrottled(result.error)
    return results
  }

  const { rehearse, healthChecks, entries, entryOf, reaches } = adapter
  return {
    capabilities: adapter.capabilities,
    resolve: (endpoints, call) => inTurn(() => adapter.resolve(endpoints, call)),
    inspect: (targets, call) => inTurn(() => adapter.inspect(targets, call)),
    snapshot: (targets, call) => inTurn(() => adapter.snapshot(targets, call)),
    drain: (targets, call) => effect(() => adapter.drain(targets, call)),
    restore: (wanted, call) => effect(() => adapter.restore(wanted, call)),
    ...(rehearse && { rehearse: (targets, call) => inTurn(() => rehearse.call(adapter, targets, call)) }),
    ...(healthChecks && { healthChecks: (call) => inTurn(() => healthChecks.call(adapter, call)) }),
    ...(entries && { entries: (call) => inTurn(() => entries.call(adapter, call)) }),
    ...(entryOf && { entryOf: (target) => entryOf.call(adapter, target) }),
    ...(reaches && { reaches: (target) => reaches.call(adapter, target) }),
    close: () => adapter.close(),
  }
}
