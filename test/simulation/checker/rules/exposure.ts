import type { HistoryEntry } from '../history.ts'
import type { Process } from '../processes.ts'
import type { Report } from '../violation.ts'
import type { World } from '../world.ts'
import { isKnownDown, isMeddledSince } from './by-hand.ts'
import { isExcused, mayBeInRotation } from './images.ts'

/**
 * Judges a container that has just ended. Sluice must not have caused it by a new image while requests still reach the pod. A container
 * that was started after the patch ends by itself.
 */
export function judgeStop(world: World, entry: Extract<HistoryEntry, { type: 'container' }>, report: Report): void {
  const pod = world.pods.byUid.get(entry.uid)
  const container = pod?.containers.get(entry.container)
  if (
    container?.id !== entry.id ||
    container.down !== 'sluice' ||
    // The deletion of a pod ends its containers.
    pod?.isDeleting === true ||
    pod?.patch === undefined ||
    container.startedAt > pod.patch.entry ||
    // The restart may belong to the patch by hand.
    isMeddledSince(pod, pod.patch.entry) ||
    mayBeInRotation(world, pod.patch.containers)
  )
    return
  // After a deletion of the pod without its node, the address may belong to another pod by now.
  if (world.pods.at(container.address) !== pod) return
  // The pod was patched and drained at its former address. It has taken the address of another pod, and an operator is asked.
  const hasMoved = pod.arrived.entry > pod.patch.entry
  for (const target of world.targets.at(container.address)) {
    const claim = target.claims.findLast(({ uid }) => uid === pod.uid)
    if (hasMoved && claim === undefined) continue
    // An operator had the target out, and sluice does not touch it, even after a reload has forgotten the operator's setting.
    if (claim?.untouched) continue
    // An operator that puts a target back in the middle bears the risk. Sluice only looks for reloads all the time.
    if (target.state!.routable && target.by !== 'operator' && !isExcused(world, pod, target, entry.at, looksFrom))
      report('exposure', `${target.key} sends requests to ${pod.name}, whose container sluice has restarted`, target.entry)
  }
}

/** Returns the time from which a process looks for changes: after a takeover it first reads the present state. */
function looksFrom({ begunAt = Infinity }: Process): number {
  return begunAt
}

/** Judges the return of a target: the pod behind it must answer. */
export function judgeReturn(world: World, entry: Extract<HistoryEntry, { type: 'effect' }>, report: Report): void {
  const { after, before, balancer, target: name } = entry
  if (!after.routable || before.routable) return
  const target = world.targets.of(balancer, name)
  const pod = world.pods.at(after.address)
  if (pod === undefined || target.late !== undefined) return
  if (!pod.ready && entry.leftAt - pod.readySince > world.scenario.lagMs)
    report('exposure', `${target.key} was put back while ${pod.name} had long not been ready`, pod.patch?.entry)
  for (const [container, { down, id }] of pod.containers) {
    // Without a probe Ready says nothing, and after a restart of the kubelet it may be wrong. There is no other information.
    const isKnown = down === 'sluice' || (down === 'person' && isKnownDown(world, pod, entry))
    if (isKnown && pod.probed.has(container) && !pod.saidReady.has(id))
      report('exposure', `${target.key} was put back while ${container} of ${pod.name} did not answer yet`, pod.patch?.entry)
  }
}
