import type { AddressChanges } from './address-changes.ts'
import type { Context } from './context.ts'
import { createEntryFlaps } from './entry-flaps.ts'
import type { LoadBalancerEvent, SeenEntry } from './events.ts'
import type { Holders } from './holders.ts'
import { FOLLOWS_WITHIN_MS } from './limits.ts'
import type { EntryChange, ObserverSnapshot } from './told.ts'

/** The entries of all load balancers. Finds the lag of each entry after its Service, and entries without a pod or node. */
export interface Entries {
  take(event: LoadBalancerEvent): void
  /** Returns whether an entry has the address. */
  names(address: string): boolean
  /** Returns whether the address has entries, or had some, and all of them were taken out of rotation. */
  isDrained(address: string): boolean
  /** Looks at the entries of the address again, since a pod or node has got or lost it. */
  reviewAt(address: string): void
  balancers(): ObserverSnapshot['loadBalancers']
  /** Looks at all entries again, since more pods or nodes are known. */
  review(): void
}

interface EntryState {
  seen: SeenEntry
  loadBalancer: string
  change: EntryChange['change']
  /** The instant at which the entry has last begun or ceased to get requests. */
  turnedAt?: number
  /** Whether the entry was taken out since it last got requests. The program that puts it back does so when it likes, without a lag. */
  isTakenOut: boolean
  /** Present while no pod and no node has the address. A new object stands for each such time. */
  alone?: { since: number }
}

/** `seesAll` returns whether all pods and nodes of all clusters are known. */
export function createEntries(context: Context, holders: Holders, changes: AddressChanges, seesAll: () => boolean): Entries {
  const balancers = new Map<string, { entries: Map<string, EntryState>; isRead: boolean; isUnread: boolean }>()
  const byAddress = new Map<string, Set<EntryState>>()
  /** Entries that were drained by a removal, by address. Such an entry may come back as a new one. */
  const takenAway = new Map<string, Set<string>>()
  const flaps = createEntryFlaps(context)

  function balancerOf(name: string) {
    const known = balancers.get(name) ?? { entries: new Map<string, EntryState>(), isRead: false, isUnread: false }
    balancers.set(name, known)
    return known
  }

  function put(loadBalancer: string, seen: SeenEntry): void {
    const { entries, isRead } = balancerOf(loadBalancer)
    const known = entries.get(seen.id)
    const change = changeOf(seen)
    if (known === undefined) {
      const isTakenOut = isTakingOut(change) || comesBack(loadBalancer, seen)
      const state: EntryState = { seen, loadBalancer, change, isTakenOut }
      entries.set(seen.id, state)
      index(state)
      if (isRead) tell(state, lagsOf(state))
      if (isRead) turn(state)
    } else {
      const before = known.change
      if (known.seen.address !== seen.address) {
        unindex(known)
        forget(known)
        known.seen = seen
        index(known)
      }
      known.seen = seen
      known.change = change
      known.isTakenOut ||= isTakingOut(change)
      const hasTurned = (before === 'in') !== (change === 'in')
      if (before !== change) tell(known, hasTurned ? lagsOf(known) : [])
      if (hasTurned) turn(known)
    }
    if (change === 'in') entries.get(seen.id)!.isTakenOut = false
    look(entries.get(seen.id)!)
  }

  function remove(loadBalancer: string, id: string): void {
    const { entries } = balancerOf(loadBalancer)
    const known = entries.get(id)
    if (known === undefined) return
    const lags = known.change === 'in' ? lagsOf({ ...known, change: 'gone' }) : []
    const hasTurned = known.change === 'in'
    known.change = 'gone'
    tell(known, lags)
    if (hasTurned) turn(known)
    if (lags.length === 0) takeAway(loadBalancer, known.seen)
    entries.delete(id)
    unindex(known)
    forget(known)
  }

  function takeAway(loadBalancer: string, seen: SeenEntry): void {
    const own = takenAway.get(seen.address) ?? new Set()
    takenAway.set(seen.address, own.add(aboutAddress(loadBalancer, seen)))
    context.later(context.now() + FOLLOWS_WITHIN_MS, () => void comesBack(loadBalancer, seen))
  }

  function comesBack(loadBalancer: string, seen: SeenEntry): boolean {
    const own = takenAway.get(seen.address)
    const was = own?.delete(aboutAddress(loadBalancer, seen)) === true
    if (own?.size === 0) takenAway.delete(seen.address)
    return was
  }

  /** Notes that the entry has begun or ceased to get requests. */
  function turn(state: EntryState): void {
    const { loadBalancer, seen, change } = state
    state.turnedAt = context.now()
    const pod = holders.podAt(seen.address)
    const of = pod === undefined ? {} : { namespace: pod.namespace, pod: pod.pod }
    flaps.turned({ loadBalancer, entry: seen.id, address: addressOf(seen), ...of }, change === 'in')
  }

  function index(state: EntryState): void {
    const own = byAddress.get(state.seen.address) ?? new Set()
    byAddress.set(state.seen.address, own.add(state))
  }

  function unindex(state: EntryState): void {
    const own = byAddress.get(state.seen.address)
    own?.delete(state)
    if (own?.size === 0) byAddress.delete(state.seen.address)
  }

  /** The lags after the Services whose address has turned the same way since the entry last turned. None after a drain. */
  function lagsOf({ seen, change, turnedAt = -Infinity, isTakenOut, loadBalancer }: EntryState): EntryChange['lags'] {
    const isIn = change === 'in'
    if (isIn && isTakenOut) return []
    return changes.saying(seen.address, isIn, turnedAt).map(({ at, cluster, namespace, service }) => {
      const lagMs = context.now() - at
      context.measured({ cluster, namespace, service, leg: 'endpointslice-load-balancer', loadBalancer }, lagMs)
      return { cluster, namespace, service, lagMs }
    })
  }

  function tell({ seen, loadBalancer, change }: EntryState, lags: EntryChange['lags']): void {
    const pod = holders.podAt(seen.address)
    context.tell({
      type: 'entry',
      at: context.now(),
      loadBalancer,
      entry: seen.id,
      address: addressOf(seen),
      change,
      ...(pod === undefined ? {} : { namespace: pod.namespace, pod: pod.pod }),
      lags,
    })
  }

  function forget(state: EntryState): void {
    if (state.alone === undefined) return
    delete state.alone
    context.over('entry-follows-nothing', aboutEntry(state))
  }

  function look(state: EntryState): void {
    if (holders.isHeld(state.seen.address) || ['draining', 'out', 'gone'].includes(state.change)) return forget(state)
    if (state.alone !== undefined || !followsNothing(state)) return
    const alone = { since: context.now() }
    state.alone = alone
    context.later(alone.since + context.graceMs, () => {
      if (state.alone !== alone || !followsNothing(state)) return
      const { loadBalancer, seen } = state
      const formerPod = holders.formerAt(seen.address)?.pod
      context.find(
        {
          code: 'entry-follows-nothing',
          loadBalancer,
          entry: seen.id,
          address: seen.address,
          ...(formerPod === undefined ? {} : { formerPod }),
          sinceMs: context.now() - alone.since,
        },
        aboutEntry(state),
      )
    })
  }

  function followsNothing({ seen }: EntryState): boolean {
    return holders.formerAt(seen.address) !== undefined || seesAll()
  }

  return {
    take(event) {
      const { loadBalancer } = event
      const balancer = balancerOf(loadBalancer)
      switch (event.type) {
        case 'entry':
          return put(loadBalancer, event.entry)
        case 'entry-gone':
          return remove(loadBalancer, event.id)
        case 'load-balancer-read':
          balancer.isRead = true
          balancer.isUnread = false
          context.over('load-balancer-unread', loadBalancer)
          return
        case 'load-balancer-unread':
          if (!balancer.isUnread)
            context.find({ code: 'load-balancer-unread', loadBalancer, because: event.because }, loadBalancer)
          balancer.isUnread = true
      }
    },
    names: (address) => byAddress.has(address),
    isDrained(address) {
      const own = [...(byAddress.get(address) ?? [])]
      return (own.length > 0 || takenAway.has(address)) && own.every(({ change }) => isTakingOut(change))
    },
    reviewAt(address) {
      for (const state of byAddress.get(address) ?? []) look(state)
    },
    balancers: () =>
      [...balancers].map(([name, { entries, isRead, isUnread }]) => {
        const counts: Record<EntryChange['change'], number> = { in: 0, unhealthy: 0, draining: 0, out: 0, unknown: 0, gone: 0 }
        for (const { change } of entries.values()) counts[change] += 1
        return { name, isRead: isRead && !isUnread, entries: counts }
      }),
    review() {
      for (const { entries } of balancers.values()) for (const state of entries.values()) look(state)
    },
  }
}

function addressOf({ address, port }: SeenEntry): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}

function aboutEntry({ loadBalancer, seen }: EntryState): string {
  return `${loadBalancer}/${seen.id}`
}

function aboutAddress(loadBalancer: string, seen: SeenEntry): string {
  return `${loadBalancer}/${addressOf(seen)}`
}

function isTakingOut(change: EntryChange['change']): boolean {
  return change !== 'in' && change !== 'unhealthy'
}

function changeOf({ admin, isRoutable }: SeenEntry): EntryChange['change'] {
  return admin === 'in' && isRoutable === false ? 'unhealthy' : admin
}
