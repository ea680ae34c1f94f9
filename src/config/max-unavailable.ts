import { show } from './show.ts'

/** A number of pods, or a percentage of them. */
export type MaxUnavailable = { count: number } | { percent: number }

/** The hint about the notation. */
export const MAX_UNAVAILABLE_HINT =
  'write a number of pods from 1 up, or a share such as "25%" (1% to 100%, rounded down, at least one pod)'

export type ParsedMaxUnavailable = { ok: true; value: MaxUnavailable } | { ok: false; reason: string; hint: string }

export function parseMaxUnavailable(input: unknown): ParsedMaxUnavailable {
  const text = typeof input === 'number' || typeof input === 'string' ? String(input) : ''
  const [, digits, percentSign] = /^(\d+)(%?)$/.exec(text) ?? []
  const number = Number(digits)
  const isShare = percentSign === '%'
  if (digits === undefined || !Number.isSafeInteger(number)) {
    return {
      ok: false,
      reason: `${show(input)} is neither a number of pods nor a share of them`,
      hint: MAX_UNAVAILABLE_HINT,
    }
  }
  if (number === 0) return { ok: false, reason: `${text} would never let a pod go`, hint: MAX_UNAVAILABLE_HINT }
  if (isShare && number > 100) return { ok: false, reason: `${text} is more than all pods`, hint: MAX_UNAVAILABLE_HINT }
  return { ok: true, value: isShare ? { percent: number } : { count: number } }
}
