/** Durations in the notation `500ms`, `60s`, `5m`, `1h`, `1m30s`: always with a unit, always whole numbers. */

import { show } from './show.ts'

const DURATION = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/

/** The pattern for JSON Schema; the lookahead refuses the empty string. */
export const DURATION_PATTERN = '^(?=.)(\\d+h)?(\\d+m)?(\\d+s)?(\\d+ms)?$'

/** The maximum of Node's timers; a duration of more than 24 days is a mistake. */
export const LONGEST_DURATION_MS = 2 ** 31 - 1

const UNITS = 'write a whole number with a unit, such as 500ms, 60s, 5m, 1h or 1m30s'

export type ParsedDuration = { ok: true; ms: number } | { ok: false; reason: string; hint: string }

export function parseDuration(value: unknown): ParsedDuration {
  if (value === null) return { ok: false, reason: 'is empty', hint: `remove the key, or ${UNITS}` }
  if (typeof value === 'number' && Number.isFinite(value)) {
    return { ok: false, reason: `${value} has no unit`, hint: `write "${value}s" for seconds or "${value}ms" for milliseconds` }
  }
  if (typeof value !== 'string') return { ok: false, reason: `${show(value)} is not a duration`, hint: UNITS }
  const match = DURATION.exec(value)
  if (match === null || value === '') {
    if (/^\d+$/.test(value)) return parseDuration(Number(value))
    return { ok: false, reason: `${show(value)} is not a duration`, hint: UNITS }
  }
  const [hours = 0, minutes = 0, seconds = 0, milliseconds = 0] = match.slice(1).map((digits) => Number(digits ?? 0))
  const ms = ((hours * 60 + minutes) * 60 + seconds) * 1000 + milliseconds
  if (ms > LONGEST_DURATION_MS) {
    return { ok: false, reason: `${show(value)} is too long`, hint: 'the longest duration is 596h' }
  }
  return { ok: true, ms }
}

/** The shortest exact form, which `parseDuration` reads back as the same number. */
export function formatDuration(ms: number): string {
  const whole = Math.round(ms)
  if (whole === 0) return '0s'
  const parts = [
    [Math.floor(whole / 3_600_000), 'h'],
    [Math.floor(whole / 60_000) % 60, 'm'],
    [Math.floor(whole / 1000) % 60, 's'],
    [whole % 1000, 'ms'],
  ] as const
  return parts.flatMap(([count, unit]) => (count === 0 ? [] : [`${count}${unit}`])).join('')
}
