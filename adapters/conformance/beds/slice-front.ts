/**
 * The work of kube-proxy for a Service, in a process without its own network. It watches the EndpointSlices and sends each new connection
 * to the next ready endpoint. Without a ready endpoint, it uses one that serves and terminates. Open connections stay.
 */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { addAbortSignal } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Address } from '../../contract.ts'
import { waitUntil } from './haproxy-process.ts'
import type { KubernetesProcess } from './kubernetes-process.ts'

export interface SliceObject {
  metadata: { name: string; resourceVersion: string; annotations?: Record<string, string>; labels?: Record<string, string> }
  addressType: string
  endpoints: SliceObjectEndpoint[]
  ports: { port: number }[]
}

export interface SliceObjectEndpoint {
  addresses: string[]
  conditions: { ready?: boolean; serving?: boolean; terminating?: boolean }
}

export interface SliceFront {
  address: { host: string; port: number }
  /** The endpoints that get new connections now, as `address:port`. */
  used(): string[]
  /** Resolves when the front has this version of a slice or a later one. */
  hasTaken(slice: SliceObject): Promise<void>
  close(): void
}

export interface SliceFrontOptions {
  kubernetes: KubernetesProcess
  namespace: string
  service: string
  /** The address on this machine for each address and port of a slice. It replaces the pod network. */
  network: ReadonlyMap<string, Address>
}

export async function startSliceFront({ kubernetes, namespace, service, network }: SliceFrontOptions): Promise<SliceFront> {
  const slices = new Map<string, SliceObject>()
  const sockets = new Set<Socket>()
  const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`
  const query = `labelSelector=kubernetes.io%2Fservice-name%3D${service}`
  const closing = new AbortController()
  let turn = 0

  async function follow(): Promise<void> {
    const list = (await kubernetes.ask('GET', `${path}?${query}`)) as {
      metadata: { resourceVersion: string }
      items: SliceObject[]
    }
    slices.clear()
    for (const slice of list.items) slices.set(slice.metadata.name, slice)
    const answer = await kubernetes.open(
      'admin',
      'GET',
      `${path}?${query}&watch=1&resourceVersion=${list.metadata.resourceVersion}`,
    )
    addAbortSignal(closing.signal, answer)
    for await (const line of createInterface({ input: answer })) {
      const { type, object } = JSON.parse(line) as { type: string; object: SliceObject }
      if (type === 'ERROR') return
      if (type === 'DELETED') slices.delete(object.metadata.name)
      else slices.set(object.metadata.name, object)
    }
  }
  async function followOn(): Promise<void> {
    while (!closing.signal.aborted) {
      await follow().catch(() => undefined)
      await sleep(20)
    }
  }

  function used(): string[] {
    const all = [...slices.values()].flatMap(({ endpoints, ports }) =>
      endpoints.flatMap(({ addresses, conditions }) => ports.map(({ port }) => ({ at: `${addresses[0]}:${port}`, conditions }))),
    )
    const ready = all.filter(({ conditions }) => conditions.ready !== false)
    const fallback = all.filter(({ conditions }) => conditions.serving !== false && conditions.terminating === true)
    return (ready.length > 0 ? ready : fallback).map(({ at }) => at)
  }

  const server = createServer((client) => {
    const targets = used()
    turn += 1
    const to = network.get(targets[turn % targets.length] ?? '')
    if (to === undefined) return void client.destroy()
    const pod = connect(to.port, to.address)
    for (const [one, other] of [
      [client, pod],
      [pod, client],
    ] as const) {
      sockets.add(one)
      one.on('error', () => other.destroy())
      one.once('close', () => {
        sockets.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  void followOn()

  return {
    address: { host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    used,
    hasTaken: ({ metadata: { name, resourceVersion } }) =>
      waitUntil(
        () => Promise.resolve(Number(slices.get(name)?.metadata.resourceVersion ?? 0) >= Number(resourceVersion)),
        'the front has the slice',
      ),
    close() {
      closing.abort()
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
