/** Options that several adapters share. The second line of each message tells the solution. */
import { z } from 'zod'
import { LONGEST_DURATION_MS, parseDuration } from '../src/config/duration.ts'
import { show } from '../src/config/show.ts'

/** A duration as in the rest of the config: `500ms`, `2s`. */
export const duration = z
  .string({ error: ({ input }) => durationProblem(input) })
  .refine((text) => parseDuration(text).ok, { error: ({ input }) => durationProblem(input) })

function durationProblem(input: unknown): string {
  const parsed = parseDuration(input)
  return parsed.ok ? `must not be longer than ${LONGEST_DURATION_MS} ms` : `${parsed.reason}\n${parsed.hint}`
}

/** The milliseconds of a valid `duration`. */
export function durationMs(text: string): number {
  const parsed = parseDuration(text)
  if (!parsed.ok) throw new Error(`${show(text)} ${parsed.reason}`)
  return parsed.ms
}

export const absolutePath = z.string().refine((text) => /^\/[^\0]*[^\0/]$/.test(text), {
  error: ({ input }) => `${show(input)} is no absolute path\nwrite it from / on, without a / at its end`,
})

/** A command that runs a program on another host: the program and its arguments follow these words. */
export const commandPrefix = z
  .array(z.string().regex(/^[^\0]+$/, 'has an empty word\nremove it'))
  .min(1, 'is an empty list\nremove it, or write a command such as [ssh, lb1]')

/** The URL of a status page: scheme, host and port only. */
export const pageUrl = z
  .string()
  .refine((text) => urlProblem(text) === undefined, { error: ({ input }) => urlProblem(String(input)) ?? '' })

/** The URLs of status pages. Several processes that read the same file have one URL each. */
export const pageUrls = z
  .array(pageUrl)
  .min(1, 'is an empty list\nremove it, or write the address of each process')
  .refine((urls) => repeated(urls) === undefined, {
    error: ({ input }) => `names ${show(repeated(input as string[]))} twice\nname each process once`,
  })

function urlProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  // The message does not repeat the value, because the value contains a password.
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
