import type { Context } from './context.ts'
import { createEntryFlaps } from './entry-flaps.ts'
import type { LoadBalancerEvent, SeenEntry } from './events.ts'
import type { EntryChange, ObserverSnapshot } from './told.ts'

/** Who has an address: a pod, or a node. */
export interface Holder {
  cluster: string
  namespace: string
  pod: string
}

/** The entries of all load balancers: which Service each follows, how late, and whether it follows anything. */
export interface Entries {
  take(event: LoadBalancerEvent): void
  /** `holder` is a pod, or undefined for a node. */
  hold(address: string, key: string, holder: Holder | undefined): void
  release(address: string, key: string): void
  /** The EndpointSlices of a Service say something else of the address than before. */
  addressChanged(service: OfService, address: string, isReady: boolean): void
  balancers(): ObserverSnapshot['loadBalancers']
  /** More is known by now: all entries are looked at. */
  review(): void
}

export interface OfService {
  cluster: string
  namespace: string
  service: string
}

interface EntryState {
  seen: SeenEntry
  loadBalancer: string
  change: EntryChange['change']
  /** When it has last begun or ceased to get requests. */
  turnedAt?: number
  /** The pod whose address it was. */
  formerPod?: string
  /** Nothing has its address; another one where something had it meanwhile. */
  alone?: { since: number }
}

interface AddressChange extends OfService {
  at: number
  isReady: boolean
}

/** A load balancer that follows later than this follows something else. */
const FOLLOWS_WITHIN_MS = 600_000

/** `seesAll`: no pod and no node of any cluster is unknown. */
export function createEntries(context: Context, seesAll: () => boolean): Entries {
  const balancers = new Map<string, { entries: Map<string, EntryState>; isRead: boolean; isUnread: boolean }>()
  const byAddress = new Map<string, Set<EntryState>>()
  const holders = new Map<string, Map<string, Holder | undefined>>()
  const changes = new Map<string, Map<string, AddressChange>>()
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
      const state: EntryState = { seen, loadBalancer, change }
      entries.set(seen.id, state)
      index(state)
      if (isRead) tell(state, lagsOf(state))
      if (isRead) turn(state)
    } else {
      const before = known.change
      if (known.seen.address !== seen.address) {
        unindex(known)
        delete known.formerPod
        forget(known)
        known.seen = seen
        index(known)
      }
      known.seen = seen
      known.change = change
      const hasTurned = (before === 'in') !== (change === 'in')
      if (before !== change) tell(known, hasTurned ? lagsOf(known) : [])
      if (hasTurned) turn(known)
    }
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
    entries.delete(id)
    unindex(known)
    forget(known)
  }

  /** It has begun, or ceased, to get requests. */
  function turn(state: EntryState): void {
    const { loadBalancer, seen, change } = state
    state.turnedAt = context.now()
    const pod = podAt(seen.address)
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

  function podAt(address: string): Holder | undefined {
    return [...(holders.get(address)?.values() ?? [])].find((one) => one !== undefined)
  }

  /** Of the Services that have said the same before, since the entry last turned. */
  function lagsOf({ seen, change, turnedAt = -Infinity, loadBalancer }: EntryState): EntryChange['lags'] {
    const isIn = change === 'in'
    return [...(changes.get(seen.address)?.values() ?? [])].flatMap(({ at, isReady, ...of }) => {
      if (isReady !== isIn || at <= turnedAt) return []
      const lagMs = context.now() - at
      context.measured({ ...of, leg: 'endpointslice-load-balancer', loadBalancer }, lagMs)
      return [{ service: of.service, lagMs }]
    })
  }

  function tell({ seen, loadBalancer, change }: EntryState, lags: EntryChange['lags']): void {
    const pod = podAt(seen.address)
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
    const isHeld = (holders.get(state.seen.address)?.size ?? 0) > 0
    if (isHeld || state.change === 'out' || state.change === 'gone') {
      forget(state)
      if (isHeld) delete state.formerPod
      return
    }
    if (state.alone !== undefined || !(state.formerPod !== undefined || seesAll())) return
    const alone = { since: context.now() }
    state.alone = alone
    context.later(alone.since + context.graceMs, () => {
      if (state.alone !== alone || !(state.formerPod !== undefined || seesAll())) return
      const { loadBalancer, seen, formerPod } = state
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
    hold(address, key, holder) {
      const own = holders.get(address) ?? new Map<string, Holder | undefined>()
      holders.set(address, own.set(key, holder))
      for (const state of byAddress.get(address) ?? []) look(state)
    },
    release(address, key) {
      const own = holders.get(address)
      const holder = own?.get(key)
      own?.delete(key)
      if (own?.size === 0) holders.delete(address)
      for (const state of byAddress.get(address) ?? []) {
        if (holder !== undefined) state.formerPod = holder.pod
        look(state)
      }
    },
    addressChanged(service, address, isReady) {
      const at = context.now()
      const own = changes.get(address) ?? new Map<string, AddressChange>()
      const key = `${service.cluster}/${service.namespace}/${service.service}`
      const change = { ...service, at, isReady }
      changes.set(address, own.set(key, change))
      context.later(at + FOLLOWS_WITHIN_MS, () => {
        if (own.get(key) === change) own.delete(key)
        if (own.size === 0 && changes.get(address) === own) changes.delete(address)
      })
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

function changeOf({ admin, isRoutable }: SeenEntry): EntryChange['change'] {
  return admin === 'in' && isRoutable === false ? 'unhealthy' : admin
}
