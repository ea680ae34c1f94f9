/*
 * Measures the cost of a program that lists and watches the resources of `sluice observe`, parses each object, and keeps none:
 * `node bench/bare-watch.ts URL SECONDS`.
 */

const [url = '', seconds = '0'] = process.argv.slice(2)
const PATHS = [
  '/api/v1/pods',
  '/api/v1/nodes',
  '/api/v1/services',
  '/api/v1/endpoints',
  '/apis/discovery.k8s.io/v1/endpointslices',
]
const PAGE = 500
const ending = new AbortController()
let objects = 0
let events = 0

interface List {
  metadata: { continue?: string; resourceVersion: string }
  items: unknown[]
}

async function list(path: string): Promise<string> {
  for (let next = ''; ;) {
    const query = `limit=${PAGE}${next === '' ? '' : `&continue=${encodeURIComponent(next)}`}`
    const page = (await (await fetch(`${url}${path}?${query}`)).json()) as List
    objects += page.items.length
    if (!page.metadata.continue) return page.metadata.resourceVersion
    next = page.metadata.continue
  }
}

async function watch(path: string): Promise<void> {
  const version = await list(path)
  const query = `watch=true&allowWatchBookmarks=true&resourceVersion=${version}`
  const { body } = await fetch(`${url}${path}?${query}`, { signal: ending.signal })
  let rest = ''
  for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()!
    for (const line of lines) if ((JSON.parse(line) as { type: string }).type !== 'BOOKMARK') events += 1
  }
}

setTimeout(() => ending.abort(), Number(seconds) * 1_000)
await Promise.allSettled(PATHS.map(watch))
console.log(JSON.stringify({ objects, events }))
