import { z } from 'zod'
import type { ReasonOf } from '../reasons/reason.ts'

/*
 * A record of a newer sluice is refused by name, and never guessed at. It says so in one of two ways: by its version `v`, which grows
 * when a field changes its meaning, or by `needs`, which names what the record has that a reader must know to act on it. A record that
 * needs nothing new is for older readers too, though its writer knows more.
 */

const Versioned = z.object({ v: z.number() })
const Needing = z.object({ needs: z.array(z.string()) })

/** What a record may need, and this sluice knows. The first one comes with the first field that an older sluice must not pass over. */
const KNOWN_NEEDS: ReadonlySet<string> = new Set()

/** Undefined where the record does not say that it is of a newer version than `reads`, or needs what this sluice does not know. */
export function newerVersion(raw: unknown, reads: number): ReasonOf<'record-newer'> | ReasonOf<'record-needs'> | undefined {
  const version = Versioned.safeParse(raw)
  if (version.success && version.data.v > reads) return { code: 'record-newer', version: version.data.v, reads }
  const needing = Needing.safeParse(raw)
  const unknown = needing.success ? needing.data.needs.filter((one) => !KNOWN_NEEDS.has(one)) : []
  return unknown.length > 0 ? { code: 'record-needs', needs: unknown } : undefined
}

/** Whether a record cannot be read for that reason. */
export function isNewer({ code }: { code: string }): boolean {
  return code === 'record-newer' || code === 'record-needs'
}
