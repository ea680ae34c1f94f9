/** A GET request for JSON, for the status pages of load balancers. It follows no redirects. */
import type { z } from 'zod'

/** Fetches and parses the page. Each error message starts with the URL. */
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
