/** A GET of JSON, for the pages on which a load balancer tells of itself. No redirect is followed. */
import type { z } from 'zod'

/** Each error begins with the URL. */
export async function fetchJson<Page>(url: string, schema: z.ZodType<Page>, signal: AbortSignal): Promise<Page> {
  let answer: Response
  try {
    answer = await fetch(url, { signal, redirect: 'error', headers: { accept: 'application/json' } })
  } catch (cause) {
    throw new Error(url, { cause })
  }
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text.slice(0, 200)}`.trim())
  const page = schema.safeParse(parsed(url, text))
  if (page.success) return page.data
  const [{ path, message }] = page.error.issues as [z.core.$ZodIssue]
  throw new Error(`${url} is not the page that it should be: ${path.join('.') || 'all of it'}: ${message}`)
}

function parsed(url: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(`${url} answers no JSON`, { cause })
  }
}
