/** Milliseconds since 1970; undefined where there is none, or it cannot be read. */
export function instantOf(text: string | null | undefined): number | undefined {
  const at = text == null ? Number.NaN : Date.parse(text)
  return Number.isNaN(at) ? undefined : at
}

/** How long ago that was; undefined where it is not known. Below 0 where it is still to come. */
export function ageOf(text: string | null | undefined, nowAt: number): number | undefined {
  const at = instantOf(text)
  return at === undefined ? undefined : nowAt - at
}

/** The oldest of these; 0 of none. There may be more of them than a call can have arguments. */
export function oldestOf(agesMs: readonly number[]): number {
  return agesMs.reduce((oldest, ageMs) => Math.max(oldest, ageMs), 0)
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

/** A duration as Go writes it, such as `1m30s`; undefined where it is none. */
export function goDurationMs(text: string): number | undefined {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)]
  if (parts.length === 0 || parts.map(([whole]) => whole).join('') !== text) return undefined
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNITS[unit!]!, 0)
}
