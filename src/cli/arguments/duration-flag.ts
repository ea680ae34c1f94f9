import { parseDuration } from '../../config/duration.ts'

/** Milliseconds; a problem, and 0, where the text is none or too short. */
export function durationFlag(flag: string, text: string, atLeastMs: number, problems: string[]): number {
  const parsed = parseDuration(text)
  if (!parsed.ok) problems.push(`${flag}: ${parsed.reason}: ${parsed.hint}`)
  else if (parsed.ms < atLeastMs) problems.push(`${flag}: ${text} is too short: a deadline of 0 would always have passed`)
  else return parsed.ms
  return 0
}
