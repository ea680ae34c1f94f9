import type { PodView } from './glossary.ts'
import { sharesHostAddress } from './host-addresses.ts'

/** A pod that is gone, as far as is known of it still. */
export type GonePod = Pick<PodView, 'uid' | 'name' | 'ip' | 'node' | 'owner'> & Partial<Pick<PodView, 'containers' | 'hostIps'>>

/** Whether a pod of the same controller has come in the place of one that is gone. */
export type HeirRule = (gone: GonePod, candidate: PodView) => boolean

export const byName: HeirRule = (gone, candidate) => candidate.name === gone.name

export const byNode: HeirRule = (gone, candidate) => candidate.node !== undefined && candidate.node === gone.node

/** Its own address, or one that it has by a host port of its node. */
export const byAddress: HeirRule = (gone, candidate) => {
  if (candidate.ip === undefined) return false
  return candidate.ip === gone.ip || sharesHostAddress({ containers: [], ...gone }, candidate)
}
