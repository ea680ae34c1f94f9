/** The marks of sluice: the write of a drain puts the addresses of the drained endpoints into an annotation of the slice. */
import { DRAINED_ADDRESSES, drainedAddresses } from '../../src/pods/drained-addresses.ts'
import type { Slice } from './slices.ts'

export function markedOf({ metadata }: Slice): ReadonlySet<string> {
  return drainedAddresses(metadata.annotations)
}

/** The annotations of a slice with exactly these marks. Undefined if there are no annotations. */
export function annotationsWith({ metadata }: Slice, marked: ReadonlySet<string>): Record<string, string> | undefined {
  const { [DRAINED_ADDRESSES]: _, ...others } = metadata.annotations ?? {}
  const all = marked.size === 0 ? others : { ...others, [DRAINED_ADDRESSES]: [...marked].toSorted().join(',') }
  return Object.keys(all).length === 0 ? undefined : all
}
