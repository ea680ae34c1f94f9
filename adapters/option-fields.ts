/** Options that several adapters have, with messages whose second line is the way out. */
import { z } from 'zod'
import { LONGEST_DURATION_MS, parseDuration } from '../src/config/duration.ts'
import { show } from '../src/config/show.ts'

/** As in the rest of the config: `500ms`, `2s`. */
export const duration = z
  .string({ error: ({ input }) => durationProblem(input) })
  .refine((text) => parseDuration(text).ok, { error: ({ input }) => durationProblem(input) })

function durationProblem(input: unknown): string {
  const parsed = parseDuration(input)
  return parsed.ok ? `must not be longer than ${LONGEST_DURATION_MS} ms` : `${parsed.reason}\n${parsed.hint}`
}

/** Of a `duration` that was checked. */
export function durationMs(text: string): number {
  const parsed = parseDuration(text)
  if (!parsed.ok) throw new Error(`${show(text)} ${parsed.reason}`)
  return parsed.ms
}

export const absolutePath = z.string().refine((text) => /^\/[^\0]*[^\0/]$/.test(text), {
  error: ({ input }) => `${show(input)} is no absolute path\nwrite it from / on, without a / at its end`,
})

/** The words of a command that ends where the program on the other host begins. */
export const commandPrefix = z
  .array(z.string().regex(/^[^\0]+$/, 'has an empty word\nremove it'))
  .min(1, 'is an empty list\nremove it, or write a command such as [ssh, lb1]')

/** Where something tells of itself. */
export const pageUrl = z
  .string()
  .refine((text) => urlProblem(text) === undefined, { error: ({ input }) => urlProblem(String(input)) ?? '' })

/** Where a load balancer tells of itself: several of them for several processes that read the same file. */
export const pageUrls = z
  .array(pageUrl)
  .min(1, 'is an empty list\nremove it, or write the address of each process')
  .refine((urls) => repeated(urls) === undefined, {
    error: ({ input }) => `names ${show(repeated(input as string[]))} twice\nname each process once`,
  })

function urlProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  // A value with a password in it is not repeated.
  if (url !== undefined && (url.username !== '' || url.password !== '')) return 'holds a user or a password\nremove them'
  if (url === undefined || !/^https?:$/.test(url.protocol))
    return `${show(text)} is no http or https URL\nwrite it as http://HOST:PORT`
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '')
    return `${show(text)} has a path\nwrite scheme, host and port alone`
  return undefined
}

function repeated(urls: readonly string[]): string | undefined {
  const origins = urls.map((url) => (URL.canParse(url) ? new URL(url).origin : url))
  return urls.find((_, index) => origins.indexOf(origins[index]!) < index)
}
