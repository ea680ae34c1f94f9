/** The instant in milliseconds since 1970; undefined where the text is absent, or is no date. */
export function instantOf(text: string | null | undefined): number | undefined {
  const at = text == null ? Number.NaN : Date.parse(text)
  return Number.isNaN(at) ? undefined : at
}

/** The age of an instant in milliseconds; undefined where the instant is unknown, and below 0 where it is in the future. */
export function ageOf(text: string | null | undefined, nowAt: number): number | undefined {
  const at = instantOf(text)
  return at === undefined ? undefined : nowAt - at
}

/** The highest age; 0 for an empty list. The list may be too long to be passed to `Math.max` as arguments. */
export function oldestOf(agesMs: readonly number[]): number {
  return agesMs.reduce((oldest, ageMs) => Math.max(oldest, ageMs), 0)
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

/** Parses a duration of Go, such as `1m30s`, into milliseconds; undefined where the text is no duration. */
export function goDurationMs(text: string): number | undefined {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)]
  if (parts.length === 0 || parts.map(([whole]) => whole).join('') !== text) return undefined
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNITS[unit!]!, 0)
}
