import type { ReasonOf } from '../../reasons/reason.ts'
import type { Place } from '../../reasons/refusals.ts'
import type { Ledger, RetiredPlace } from '../../journal/ledger.ts'
import type { PodView } from '../../pods/glossary.ts'
import type { Refusal } from '../../plan/plan.ts'
import type { Kinds } from '../../workloads/kinds/kinds.ts'
import { displayName, type WorkloadId } from '../../pods/workload-id.ts'
import { missingPlace } from '../half-done-targets.ts'
import type { LoadBalancer } from '../request.ts'
import { isNamedBy } from './is-named-by.ts'
import { isOfOthers } from './of-others.ts'

/** A part of a load balancer that has pods of these workloads on record, and is not in the config. */
export interface DroppedPlace extends RetiredPlace {
  /** The place in the refusal. It has the scope where the config has other parts of the load balancer. */
  place: Place
  /** The newest run with the place on record. */
  run: string
  pods: number
}

export interface DroppedOptions {
  kinds: Kinds
  ledgers: readonly Ledger[]
  refs: readonly WorkloadId[]
  loadBalancers: readonly LoadBalancer[]
  /** The pods that exist. */
  pods(): Iterable<{ pod: PodView }>
}

/**
 * Finds load balancers that the config leaves out, by the records of the workloads. Such a load balancer would send requests to a pod that
 * restarts. A retired place is asked for again only where a later run has used it.
 */
export function droppedPlaces({ kinds, ledgers, refs, loadBalancers, pods }: DroppedOptions): DroppedPlace[] {
  const isOurs = ({ header }: Ledger): boolean => refs.some((ref) => isNamedBy(header, ref))
  const newestFirst = ledgers.filter(isOurs).toSorted((a, b) => (a.header.startedAt < b.header.startedAt ? 1 : -1))
  /** The places that a later run has on record, or has retired. */
  const told = new Set<string>()
  const dropped: DroppedPlace[] = []
  for (const { header, entries } of newestFirst) {
    for (const place of header.retired ?? []) told.add(keyOf(place))
    const own = Array.from(entries.values()).filter((entry) => !isOfOthers(entry, header, { kinds, refs, pods }))
    const recorded = Map.groupBy(
      own.flatMap(({ uid, targets }) => targets.map((target) => ({ uid, target }))),
      ({ target }) => keyOf(target),
    )
    for (const [key, those] of recorded) {
      const { target } = those[0]!
      const place = told.has(key) ? undefined : missingPlace(target, loadBalancers)
      told.add(key)
      if (place === undefined) continue
      const { loadBalancer, scope } = target
      dropped.push({ loadBalancer, scope, place, run: header.run, pods: new Set(those.map(({ uid }) => uid)).size })
    }
  }
  return dropped
}

/** The refusals: one for each load balancer, since the consent names it. */
export function droppedRefusals(dropped: readonly DroppedPlace[], workloads: readonly WorkloadId[]): Refusal[] {
  const names = workloads.map(displayName)
  return Array.from(
    Map.groupBy(dropped, ({ loadBalancer }) => loadBalancer),
    ([name, places]): Refusal => {
      const [{ run, pods }] = places as [DroppedPlace]
      const lost = places.map(({ place }) => place)
      return { code: 'load-balancer-dropped', loadBalancer: name, places: lost, run, pods, workloads: names }
    },
  )
}

/** The warning for a place with consent. */
export function retiredWarning({ place, run }: DroppedPlace): ReasonOf<'load-balancer-retired'> {
  return { code: 'load-balancer-retired', place, run }
}

function keyOf({ loadBalancer, scope }: RetiredPlace): string {
  return JSON.stringify([loadBalancer, scope])
}
