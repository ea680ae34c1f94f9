/*
 * The smallest program that copies endpoints: it watches the EndpointSlices of a source cluster and writes each into the access cluster.
 * It knows no journal, no deletion that it has missed, and no source that is away.
 * `node bench/bare-sync.ts SOURCE-NAME SOURCE-KUBECONFIG ACCESS-KUBECONFIG NAMESPACE SERVICE...`
 */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, fetch } from 'undici'

interface Slice {
  metadata: { name: string; labels: Record<string, string>; resourceVersion?: string }
  addressType: string
  endpoints: { targetRef?: unknown; nodeName?: string }[] | null
  ports: unknown
}

const [sourceName = '', sourceFile = '', accessFile = '', namespace = '', ...services] = process.argv.slice(2)
const AGAIN_MS = 100
const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`

type Ask = (method: string, to: string, body?: unknown) => ReturnType<typeof fetch>

function open(file: string): Ask {
  const { clusters, users } = JSON.parse(readFileSync(file, 'utf8')) as {
    clusters: { cluster: { server: string; 'certificate-authority-data'?: string } }[]
    users: { user: { token: string } }[]
  }
  const { server, 'certificate-authority-data': data } = clusters[0]!.cluster
  const trust = data === undefined ? {} : { connect: { ca: Buffer.from(data, 'base64') } }
  const dispatcher = new Agent({ ...trust, bodyTimeout: 0, connections: 16 })
  const headers = { authorization: `Bearer ${users[0]!.user.token}`, 'content-type': 'application/json' }
  return (method, to, body) =>
    fetch(`${server}${to}`, { method, dispatcher, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
}

const [source, access] = [open(sourceFile), open(accessFile)]
/** The newest state of a slice that is not yet written. `undefined` stands for a slice that is gone. */
const waiting = new Map<string, Slice | undefined>()
const busy = new Set<string>()

function copyOf({ metadata, addressType, endpoints, ports }: Slice): unknown {
  return {
    metadata: {
      name: `${metadata.name}-${sourceName}`,
      labels: {
        'kubernetes.io/service-name': metadata.labels['kubernetes.io/service-name'],
        'endpointslice.kubernetes.io/managed-by': 'bare-sync',
        'multicluster.kubernetes.io/source-cluster': sourceName,
      },
    },
    addressType,
    ports,
    endpoints: (endpoints ?? []).map(({ targetRef: _pod, nodeName: _node, ...endpoint }) => endpoint),
  }
}

async function write(name: string, slice: Slice | undefined): Promise<void> {
  const own = `${path}/${name}-${sourceName}`
  if (slice === undefined) {
    await (await access('DELETE', own)).text()
    return
  }
  // A PUT without a version replaces whatever is there.
  const put = await access('PUT', own, copyOf(slice))
  await put.text()
  if (put.status === 404) await (await access('POST', path, copyOf(slice))).text()
}

async function drain(name: string): Promise<void> {
  if (busy.has(name)) return
  busy.add(name)
  while (waiting.has(name)) {
    const slice = waiting.get(name)
    waiting.delete(name)
    await write(name, slice).catch(() => sleep(AGAIN_MS).then(() => waiting.has(name) || waiting.set(name, slice)))
  }
  busy.delete(name)
}

function take(slice: Slice, isGone: boolean): void {
  const { name, labels } = slice.metadata
  if (!services.includes(labels['kubernetes.io/service-name'] ?? '')) return
  waiting.set(name, isGone ? undefined : slice)
  void drain(name)
}

for (;;) {
  try {
    const list = (await (await source('GET', path)).json()) as { metadata: { resourceVersion: string }; items: Slice[] }
    for (const slice of list.items) take(slice, false)
    process.stderr.write('watching\n')
    const { body } = await source('GET', `${path}?watch=true&resourceVersion=${list.metadata.resourceVersion}`)
    let rest = ''
    const decoder = new TextDecoder()
    for await (const chunk of body!) {
      const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n')
      rest = lines.pop()!
      for (const line of lines) {
        const { type, object } = JSON.parse(line) as { type: string; object: Slice }
        if (type === 'ERROR') throw new Error(line)
        take(object, type === 'DELETED')
      }
    }
  } catch (error) {
    process.stderr.write(`${String(error)}\n`)
  }
  await sleep(AGAIN_MS)
}
