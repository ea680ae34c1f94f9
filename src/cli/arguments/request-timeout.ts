import { durationFlag } from './duration-flag.ts'

/** As kubectl takes it: 0 is the default, with a unit or without, and a number without one means seconds. */
export function parseRequestTimeout(text: string | undefined, problems: string[]): number | undefined {
  if (text === undefined) return undefined
  const ms = durationFlag('--request-timeout', /^\d+$/.test(text) ? `${text}s` : text, 0, problems)
  return ms === 0 ? undefined : ms
}
