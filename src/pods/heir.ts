import type { PodView } from './glossary.ts'
import { sharesHostAddress } from './host-addresses.ts'

/**
 * A pod that has come in the place of one that is gone: made by the same controller, with the same name (StatefulSet),
 * on the same node (DaemonSet), or at the same address, of its own or by a host port of its node. Without a controller, the name is all there is.
 */
export function isHeir(
  gone: Pick<PodView, 'uid' | 'name' | 'ip' | 'node' | 'owner'> & Partial<Pick<PodView, 'containers' | 'hostIps'>>,
  candidate: PodView,
): boolean {
  if (candidate.uid === gone.uid || candidate.deleting || candidate.owner?.uid !== gone.owner?.uid) return false
  if (gone.owner === undefined || gone.owner.kind === 'StatefulSet') return candidate.name === gone.name
  if (gone.owner.kind === 'DaemonSet') return candidate.node !== undefined && candidate.node === gone.node
  if (candidate.ip === undefined) return false
  return candidate.ip === gone.ip || sharesHostAddress({ containers: [], ...gone }, candidate)
}

/** Pods in the order in which they are upgraded: a StatefulSet from its highest ordinal down, as its controller does. */
export function byUpgradeOrder(a: PodView, b: PodView): number {
  const [stemA, ordinalA] = ordinalOf(a.name)
  const [stemB, ordinalB] = ordinalOf(b.name)
  if (stemA !== stemB) return stemA < stemB ? -1 : 1
  if (ordinalA !== ordinalB) return a.owner?.kind === 'StatefulSet' ? ordinalB - ordinalA : ordinalA - ordinalB
  return a.name < b.name ? -1 : 1
}

function ordinalOf(name: string): [stem: string, ordinal: number] {
  const match = /^(.*)-(\d+)$/.exec(name)
  return match ? [match[1]!, Number(match[2])] : [name, -1]
}
