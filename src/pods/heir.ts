import type { PodView } from './glossary.ts'
import { sharesHostAddress } from './host-addresses.ts'

/** A pod that is gone, with the facts that are still known of it. */
export type GonePod = Pick<PodView, 'uid' | 'name' | 'ip' | 'node' | 'owner'> & Partial<Pick<PodView, 'containers' | 'hostIps'>>

/** Decides whether a pod of the same controller replaces a pod that is gone. */
export type HeirRule = (gone: GonePod, candidate: PodView) => boolean

export const byName: HeirRule = (gone, candidate) => candidate.name === gone.name

export const byNode: HeirRule = (gone, candidate) => candidate.node !== undefined && candidate.node === gone.node

/** True for the same pod address, or for the same host port on the same node address. */
export const byAddress: HeirRule = (gone, candidate) => {
  if (candidate.ip === undefined) return false
  return candidate.ip === gone.ip || sharesHostAddress({ containers: [], ...gone }, candidate)
}
