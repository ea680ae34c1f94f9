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

/* Is what the record of a half-done pod says of its load balancers all that the config has of them, and does it have all of that? */

/**
 * Found by reading: another load balancer had come to the config since, another instance of one, or another entry, and the pod was
 * patched while that sent it requests. By how many there are: one that is recorded may have another name by now. What is patched
 * once more is drained no second time: there each of them has to be out.
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
 * Found by trial: a load balancer had another name in the config since the crash, the restart was waited for until its deadline, and
 * only then it was said that nobody could put the pod back. An abort could not either. And under the same name there was another
 * HAProxy, in which it was drained and put back, and nobody knew of the first any more. What an operator has out gets no call.
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
 * Nor is anything of a pod that is gone. Found by trial: what was to come in its place was waited for until the deadlines, and then
 * nobody was told why.
 */
export function assertNoneMissingOfGone(
  left: readonly { pod: string; target: JournalTarget }[],
  { namespace, loadBalancers }: { namespace: string; loadBalancers: readonly LoadBalancer[] },
): void {
  for (const { pod, target } of left) {
    const missing = firstMissing([target], loadBalancers)
    if (missing === undefined) continue
    // What is said of a load balancer is said of all that the pod had in it. Found by trial: the word was for the one entry that was
    // named, and closed the other too, which stayed drained.
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

/** The part of a load balancer that the target is in, where the config does not have it. */
export function missingPlace(target: JournalTarget, loadBalancers: readonly LoadBalancer[]): LoadBalancerPlace | undefined {
  const found = loadBalancers.find(({ name }) => name === target.loadBalancer)
  if (found === undefined) return { loadBalancer: target.loadBalancer }
  if (found.adapter.reaches?.(plain(target)) !== false) return undefined
  return { loadBalancer: target.loadBalancer, scope: target.scope }
}
