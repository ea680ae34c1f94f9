import { durationFlag } from './duration-flag.ts'

/**
 * A number without a unit means seconds, as for kubectl. 0 means the default and not "no limit": a call without a limit can outlive a
 * Lease.
 */
export function parseRequestTimeout(text: string | undefined, problems: string[]): number | undefined {
  if (text === undefined) return undefined
  const ms = durationFlag('--request-timeout', /^\d+$/.test(text) ? `${text}s` : text, 0, problems)
  return ms === 0 ? undefined : ms
}
