import { z } from 'zod'
import type { ReasonOf } from '../reasons/reason.ts'

/*
 * A record of a newer sluice is refused, and never guessed at. Its version `v` grows when a field changes its meaning, and `needs` names
 * the features that a reader must know. A record that needs nothing new is for older readers too.
 */

const Versioned = z.object({ v: z.number() })
const Needing = z.object({ needs: z.array(z.string()) })

/** The needs that this sluice knows. The first need comes with the first field that an older sluice must not pass over. */
const KNOWN_NEEDS: ReadonlySet<string> = new Set()

/** Returns undefined where the record has no newer version than `reads`, and no need that this sluice lacks. */
export function newerVersion(raw: unknown, reads: number): ReasonOf<'record-newer'> | ReasonOf<'record-needs'> | undefined {
  const version = Versioned.safeParse(raw)
  if (version.success && version.data.v > reads) return { code: 'record-newer', version: version.data.v, reads }
  const needing = Needing.safeParse(raw)
  const unknown = needing.success ? needing.data.needs.filter((one) => !KNOWN_NEEDS.has(one)) : []
  return unknown.length > 0 ? { code: 'record-needs', needs: unknown } : undefined
}

/** Reports whether a record cannot be read because it is of a newer sluice. */
export function isNewer({ code }: { code: string }): boolean {
  return code === 'record-newer' || code === 'record-needs'
}
