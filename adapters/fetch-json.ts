/** A GET of JSON, for the pages on which a load balancer tells of itself. No redirect is followed. */

export async function fetchJson(url: string, signal: AbortSignal): Promise<unknown> {
  let answer: Response
  try {
    answer = await fetch(url, { signal, redirect: 'error', headers: { accept: 'application/json' } })
  } catch (cause) {
    throw new Error(url, { cause })
  }
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text.slice(0, 200).trim()}`.trim())
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(`${url} answers no JSON`, { cause })
  }
}
