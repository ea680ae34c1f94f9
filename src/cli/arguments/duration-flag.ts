import { parseDuration } from '../../config/duration.ts'

/** Returns milliseconds. Where the text is no duration, or is too short, returns 0 and adds a problem. */
export function durationFlag(flag: string, text: string, atLeastMs: number, problems: string[]): number {
  const parsed = parseDuration(text)
  if (!parsed.ok) problems.push(`${flag}: ${parsed.reason}: ${parsed.hint}`)
  else if (parsed.ms < atLeastMs) problems.push(`${flag}: ${text} is too short: a deadline of 0 would always have passed`)
  else return parsed.ms
  return 0
}
