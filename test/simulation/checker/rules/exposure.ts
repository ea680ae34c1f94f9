import type { HistoryEntry } from '../history.ts'
import type { Process } from '../processes.ts'
import type { Report } from '../violation.ts'
import type { World } from '../world.ts'
import { isKnownDown, isMeddledSince } from './by-hand.ts'
import { isExcused, mayBeInRotation } from './images.ts'

/**
 * A container of a pod has just ended: because sluice gave the pod another image, while requests still come to it? What
 * was started since then ends by itself.
 */
export function judgeStop(world: World, entry: Extract<HistoryEntry, { type: 'container' }>, report: Report): void {
  const pod = world.pods.byUid.get(entry.uid)
  const container = pod?.containers.get(entry.container)
  if (
    container?.id !== entry.id ||
    container.down !== 'sluice' ||
    // Whoever deletes a pod ends its containers.
    pod?.isDeleting === true ||
    pod?.patch === undefined ||
    container.startedAt > pod.patch.entry ||
    // Then it may be his restart.
    isMeddledSince(pod, pod.patch.entry) ||
    mayBeInRotation(world, pod.patch.containers)
  )
    return
  // Where the pod was deleted without waiting for it, the address is that of another by now.
  if (world.pods.at(container.address) !== pod) return
  // It was patched where it was before, and drained there: it has come in place of another, and a person is asked.
  const hasMoved = pod.arrived.entry > pod.patch.entry
  for (const target of world.targets.at(container.address)) {
    const claim = target.claims.findLast(({ uid }) => uid === pod.uid)
    if (hasMoved && claim === undefined) continue
    // An operator had it out, where sluice touches nothing: also where a reload has forgotten that since (seed 10021728).
    if (claim?.untouched) continue
    // An operator who puts it back in the middle does so at his own risk: only a reload is looked for all the time.
    if (target.state!.routable && target.by !== 'operator' && !isExcused(world, pod, target, entry.at, looksFrom))
      report('exposure', `${target.key} sends requests to ${pod.name}, whose container sluice has restarted`, target.entry)
  }
}

/** Who has just taken over reads first what there is, however long that takes (seed 801355). */
function looksFrom({ begunAt = Infinity }: Process): number {
  return begunAt
}

/** A target has just been put back: does the pod behind it answer? */
export function judgeReturn(world: World, entry: Extract<HistoryEntry, { type: 'effect' }>, report: Report): void {
  const { after, before, balancer, target: name } = entry
  if (!after.routable || before.routable) return
  const target = world.targets.of(balancer, name)
  const pod = world.pods.at(after.address)
  if (pod === undefined || target.late !== undefined) return
  if (!pod.ready && entry.leftAt - pod.readySince > world.scenario.lagMs)
    report('exposure', `${target.key} was put back while ${pod.name} had long not been ready`, pod.patch?.entry)
  for (const [container, { down, id }] of pod.containers) {
    // Without a probe Ready says nothing, and after a restart of the kubelet it may be wrong: there is nothing else to go by.
    const isKnown = down === 'sluice' || (down === 'person' && isKnownDown(world, pod, entry))
    if (isKnown && pod.probed.has(container) && !pod.saidReady.has(id))
      report('exposure', `${target.key} was put back while ${container} of ${pod.name} did not answer yet`, pod.patch?.entry)
  }
}
