import type { Place as LoadBalancerPlace } from '../reasons/refusals.ts'
import type { Adapter } from '../../adapters/contract.ts'
import type { Observation } from '../../machines/pod-upgrade/context.ts'
import { openJournal } from '../pods/open-journal.ts'
import { RunError } from './errors.ts'
import type { JournalTarget } from '../pods/glossary.ts'
import type { LoadBalancer } from './request.ts'
import { snapshotsOf } from './snapshots-of.ts'
import type { Found, Place } from './traffic/find-targets.ts'
import { isSameEntry } from './traffic/same-entry.ts'
import { keyOf, plain } from './traffic/target-key.ts'

/* The checks of a half-done pod's record against the config: the record and the config must have the same entries of the pod. */

/**
 * Throws where the config has an entry that the record lacks: another load balancer, instance or entry would send requests during the
 * patch. Only the number counts, since a recorded entry may have another name. A patched pod is not drained again, so each of its entries
 * must be out.
 */
export async function assertNoneAdded(
  { pod, stored }: Observation,
  found: Found,
  loadBalancers: readonly LoadBalancer[],
): Promise<void> {
  if (!found.found) return
  const { step, targets: recorded = [] } = openJournal(stored) ?? {}
  const adapterOf = (of: string): Adapter | undefined => loadBalancers.find(({ name }) => name === of)?.adapter
  const isOnRecord = (place: Place): boolean => recorded.some((one) => isSameEntry(one, place, adapterOf))
  const { known = [], unknown = [] } = Object.groupBy(found.targets, (one) => (isOnRecord(one) ? 'known' : 'unknown'))
  const places = recorded.map(({ loadBalancer, scope }) => JSON.stringify([loadBalancer, scope]))
  const added = [...known, ...unknown].find(({ loadBalancer, target: { scope } }) => {
    const place = places.indexOf(JSON.stringify([loadBalancer, scope]))
    if (place !== -1) places.splice(place, 1)
    return place === -1
  })
  const one = added ?? (step === 'drain' ? undefined : await findInRotation(unknown, loadBalancers))
  if (one === undefined) return
  const entry = { loadBalancer: one.loadBalancer, target: one.target.id }
  throw new RunError('preflight', { code: 'half-done-elsewhere', pod: pod.name, entry })
}

async function findInRotation(places: readonly Place[], loadBalancers: readonly LoadBalancer[]): Promise<Place | undefined> {
  const standing = await snapshotsOf(places, loadBalancers)
  return places.find(({ loadBalancer, target: { id } }) => standing.get(keyOf({ loadBalancer, target: id }))?.inRotation)
}

/**
 * Throws where the config lacks a load balancer of the record, since the pod could not be put back. Under the same name there may be
 * another load balancer, which `reaches` tells apart. Entries that an operator has out get no call, and do not count.
 */
export function assertNoneMissing({ pod, stored }: Observation, loadBalancers: readonly LoadBalancer[]): void {
  const missing = firstMissing(openJournal(stored)?.targets ?? [], loadBalancers)
  if (missing === undefined) return
  throw new RunError('preflight', {
    code: 'half-done-not-in-config',
    pod: pod.name,
    place: missing,
    resolve: { command: 'resolve', pod: pod.name, namespace: pod.namespace, traffic: 'in' },
  })
}

/**
 * Throws where the config lacks a load balancer that a gone pod was drained in. Without this check the run would wait for the replacement
 * until its deadlines.
 */
export function assertNoneMissingOfGone(
  left: readonly { pod: string; target: JournalTarget }[],
  { namespace, loadBalancers }: { namespace: string; loadBalancers: readonly LoadBalancer[] },
): void {
  for (const { pod, target } of left) {
    const missing = firstMissing([target], loadBalancers)
    if (missing === undefined) continue
    // The command states the traffic of all entries of the pod in that load balancer, so the error names them all.
    const { loadBalancer } = target
    const meant = left.filter((one) => one.pod === pod && one.target.loadBalancer === loadBalancer && !one.target.untouched)
    const entries = [...new Set(meant.map((one) => one.target.target))]
    throw new RunError('preflight', {
      code: 'gone-not-in-config',
      pod,
      target: target.target,
      place: missing,
      targets: entries,
      resolve: { command: 'resolve', pod, namespace, gone: true, loadBalancers: [loadBalancer], traffic: 'in' },
    })
  }
}

function firstMissing(targets: readonly JournalTarget[], loadBalancers: readonly LoadBalancer[]): LoadBalancerPlace | undefined {
  return targets
    .filter(({ untouched }) => !untouched)
    .map((target) => missingPlace(target, loadBalancers))
    .find((place) => place !== undefined)
}

/** The part of a load balancer with the target, where the config does not have it. */
export function missingPlace(target: JournalTarget, loadBalancers: readonly LoadBalancer[]): LoadBalancerPlace | undefined {
  const found = loadBalancers.find(({ name }) => name === target.loadBalancer)
  if (found === undefined) return { loadBalancer: target.loadBalancer }
  if (found.adapter.reaches?.(plain(target)) !== false) return undefined
  return { loadBalancer: target.loadBalancer, scope: target.scope }
}
