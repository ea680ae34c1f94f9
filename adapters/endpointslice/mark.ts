/** Which endpoints of a slice sluice has drained: an annotation of the slice with their addresses, in the write that drains them. */
import type { Slice } from './slices.ts'

export const MARK = 'sluice.dev/drained'

export function markedOf({ metadata }: Slice): ReadonlySet<string> {
  return new Set((metadata.annotations?.[MARK] ?? '').split(',').filter((address) => address !== ''))
}

/** The annotations of a slice with exactly these marks; undefined where none is left. */
export function annotationsWith({ metadata }: Slice, marked: ReadonlySet<string>): Record<string, string> | undefined {
  const { [MARK]: _, ...others } = metadata.annotations ?? {}
  const all = marked.size === 0 ? others : { ...others, [MARK]: [...marked].toSorted().join(',') }
  return Object.keys(all).length === 0 ? undefined : all
}
