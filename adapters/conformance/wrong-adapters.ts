/** Adapters that break one promise each. Every one must fail the case of its promise; otherwise the case checks nothing. */
import { type Adapter, AdapterError, type EffectResult } from '../contract.ts'
import type { Bed } from './bed.ts'
import type { CaseName } from './cases/index.ts'

export interface WrongAdapter {
  /** The fault of the adapter. */
  title: string
  /** The case that it must fail. */
  fails: CaseName
  wrap(adapter: Adapter, bed: Bed): Adapter
}

type Results = Map<string, EffectResult>

function applied(ids: readonly string[]): Results {
  return new Map(ids.map((id) => [id, { outcome: 'applied' }]))
}

/** The results of a call, with each error changed by `change`. */
async function mapErrors(call: Promise<Results>, ids: string[], change: (error: AdapterError) => EffectResult): Promise<Results> {
  try {
    const results = await call
    return new Map([...results].map(([id, result]) => [id, result.outcome === 'failed' ? change(result.error) : result]))
  } catch (error) {
    if (!(error instanceof AdapterError)) throw error
    return new Map(ids.map((id) => [id, change(error)]))
  }
}

export const wrongAdapters: readonly WrongAdapter[] = [
  {
    title: 'says that it drained, and does nothing',
    fails: 'no-new-requests',
    wrap: (adapter) => ({ ...adapter, drain: (targets) => Promise.resolve(applied(targets.map(({ id }) => id))) }),
  },
  {
    title: 'does not know what it has found',
    fails: 'ports-and-reuse',
    wrap: (adapter) => ({ ...adapter, reaches: () => false }),
  },
  {
    title: 'lists none of its entries',
    fails: 'ports-and-reuse',
    wrap: (adapter) => ({ ...adapter, entries: () => Promise.resolve([]) }),
  },
  {
    title: 'never restores',
    fails: 'drain-and-restore',
    wrap: (adapter) => ({ ...adapter, restore: (wanted) => Promise.resolve(applied(wanted.map(({ target }) => target.id))) }),
  },
  {
    title: 'forgets the weight',
    fails: 'prior-weight-returns',
    wrap: (adapter, bed) => ({
      ...adapter,
      async restore(wanted, call) {
        const results = await adapter.restore(wanted, call)
        await bed.operator.weight!(bed.endpoints[0]!, 1)
        return results
      },
    }),
  },
  {
    title: 'drains the first target of a batch only',
    fails: 'batch',
    wrap: (adapter) => ({
      ...adapter,
      async drain(targets, call) {
        await adapter.drain(targets.slice(0, 1), call)
        return applied(targets.map(({ id }) => id))
      },
    }),
  },
  {
    title: 'drains a batch in two calls',
    fails: 'batch',
    wrap: (adapter) => ({
      ...adapter,
      async drain(targets, call) {
        const first = await adapter.drain(targets.slice(0, 1), call)
        return new Map([...first, ...(await adapter.drain(targets.slice(1), call))])
      },
    }),
  },
  {
    title: 'drains its neighbour too',
    fails: 'only-the-named',
    wrap: (adapter, bed) => ({
      ...adapter,
      async drain(targets, call) {
        await bed.operator.drain(bed.endpoints[1]!)
        return adapter.drain(targets, call)
      },
    }),
  },
  {
    title: 'takes an absent target for done',
    fails: 'absent',
    wrap: (adapter) => ({
      ...adapter,
      drain: (targets, call) =>
        mapErrors(
          adapter.drain(targets, call),
          targets.map(({ id }) => id),
          () => ({ outcome: 'applied' }),
        ),
    }),
  },
  {
    title: 'ends an operator’s maintenance',
    fails: 'operators-maint',
    wrap: (adapter, bed) => ({
      ...adapter,
      async drain(targets, call) {
        await bed.operator.ready(bed.endpoints[0]!)
        return adapter.drain(targets, call)
      },
    }),
  },
  {
    title: 'ends maintenance that began meanwhile',
    fails: 'maint-meanwhile',
    wrap: (adapter, bed) => ({
      ...adapter,
      async restore(wanted, call) {
        await bed.operator.ready(bed.endpoints[0]!)
        return adapter.restore(wanted, call)
      },
    }),
  },
  {
    title: 'says that nothing is in flight',
    fails: 'in-flight',
    wrap: (adapter) => ({
      ...adapter,
      inspect: async (targets, call) =>
        new Map([...(await adapter.inspect(targets, call))].map(([id, observed]) => [id, { ...observed, inFlight: 0 }])),
    }),
  },
  {
    title: 'believes what it has drained itself',
    fails: 'restart-is-seen',
    wrap(adapter) {
      const drained = new Set<string>()
      return {
        ...adapter,
        drain(targets, call) {
          for (const { id } of targets) drained.add(id)
          return adapter.drain(targets, call)
        },
        inspect: async (targets, call) =>
          new Map(
            [...(await adapter.inspect(targets, call))].map(([id, observed]) => [
              id,
              drained.has(id) ? { ...observed, admin: 'draining', routable: false } : observed,
            ]),
          ),
      }
    },
  },
  {
    title: 'takes every timeout for success',
    fails: 'no-answer',
    wrap: (adapter) => ({
      ...adapter,
      drain: (targets, call) =>
        mapErrors(
          adapter.drain(targets, call),
          targets.map(({ id }) => id),
          () => ({ outcome: 'applied' }),
        ),
    }),
  },
  {
    title: 'takes every timeout for "not done"',
    fails: 'reply-lost',
    wrap: (adapter) => ({
      ...adapter,
      drain: (targets, call) =>
        mapErrors(
          adapter.drain(targets, call),
          targets.map(({ id }) => id),
          ({ component, message }) => ({ outcome: 'failed', error: new AdapterError(component, 'retryable', message) }),
        ),
    }),
  },
  {
    title: 'retries by itself',
    fails: 'request-lost',
    wrap: (adapter) => ({
      ...adapter,
      async drain(targets, call) {
        const results = await adapter.drain(targets, call).catch(() => undefined)
        const isDone = results !== undefined && [...results.values()].every(({ outcome }) => outcome !== 'failed')
        return isDone ? results : adapter.drain(targets, call)
      },
    }),
  },
  {
    title: 'believes its own drain',
    fails: 'false-success',
    wrap: (adapter) => {
      const drained = new Set<string>()
      return {
        ...adapter,
        drain(targets, call) {
          for (const { id } of targets) drained.add(id)
          return adapter.drain(targets, call)
        },
        inspect: async (targets, call) =>
          new Map(
            [...(await adapter.inspect(targets, call))].map(([id, observed]) => [
              id,
              drained.has(id) ? { ...observed, admin: 'draining', routable: false } : observed,
            ]),
          ),
      }
    },
  },
  {
    title: 'does not ask whether it may still write',
    fails: 'lost-ownership',
    wrap: (adapter) => ({
      ...adapter,
      drain: (targets, call) => adapter.drain(targets, { ...call, assertLive: () => {} }),
    }),
  },
]
