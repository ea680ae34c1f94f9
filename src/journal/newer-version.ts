import { z } from 'zod'
import type { ReasonOf } from '../reasons/reason.ts'

const Versioned = z.object({ v: z.number() })

/** Undefined where the record does not say that it is of a newer version than `reads`. */
export function newerVersion(raw: unknown, reads: number): ReasonOf<'record-newer'> | undefined {
  const version = Versioned.safeParse(raw)
  return version.success && version.data.v > reads ? { code: 'record-newer', version: version.data.v, reads } : undefined
}
