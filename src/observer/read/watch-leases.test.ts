import { expect, test } from 'vitest'
import { createKubeClient } from '../../kube/kube-client.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import { TransportError, type Transport } from '../../kube/transport.ts'
import { createApiServer } from '../../../sim/api-server/api-server.ts'
import { watchLeases } from './watch-leases.ts'

const PATH = '/apis/coordination.k8s.io/v1/namespaces'

async function start(leases: Record<string, string>) {
  const clock = createVirtualClock()
  let seed = 7
  const random = { next: () => (seed = (seed * 16_807 + 11) % 2_147_483_647) / 2_147_483_647 }
  const apiServer = createApiServer({ clock, random })
  const streams = new Set<() => void>()
  let isDown = false
  const transport: Transport = {
    async send(request) {
      if (isDown) throw new TransportError('down', { bytesLeft: false })
      return apiServer.handle(request, 'sluice')
    },
    stream: (request, onLine, onOpen) =>
      new Promise((resolve, reject) => {
        if (isDown) return reject(new TransportError('down', { bytesLeft: false }))
        const end = (): void => resolve({ status: 200, headers: {}, text: '' })
        const watching = apiServer.watch(request, { line: onLine, end }, 'sluice')
        if (watching.kind === 'refused') return resolve(watching.answer)
        onOpen?.()
        const cut = (): void => {
          watching.close()
          end()
        }
        streams.add(cut)
        request.signal?.addEventListener('abort', cut)
      }),
    close: () => Promise.resolve(),
  }
  const client = createKubeClient({ transport, clock, random })
  const always: Transport = { ...transport, send: async (request) => apiServer.handle(request, 'another') }
  const direct = createKubeClient({ transport: always, clock, random })
  const renewTime = (): string => new Date(clock.wallNow()).toISOString()
  async function put(lease: string, home: string, verb: 'create' | 'renew'): Promise<void> {
    const body = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: lease },
      spec: { renewTime: renewTime() },
    }
    if (verb === 'create') await direct.create(`${PATH}/${home}/leases`, body)
    else await direct.patch(`${PATH}/${home}/leases/${lease}`, [{ op: 'add', path: '/spec/renewTime', value: renewTime() }])
  }
  for (const name of new Set(Object.values(leases)))
    await direct.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  for (const [lease, home] of Object.entries(leases)) await put(lease, home, 'create')
  const stopping = new AbortController()
  const seen: string[] = []
  const ended = watchLeases({
    client,
    clock,
    random,
    signal: stopping.signal,
    emit: (change) =>
      seen.push(change.type === 'node-renewed' ? `${change.node} ${change.gapMs}` : `${change.type} ${change.part}`),
  })
  await clock.advance(1_000)
  return {
    clock,
    seen,
    renew: (lease: string) => put(lease, leases[lease]!, 'renew'),
    remove: (lease: string) => direct.delete(`${PATH}/${leases[lease]!}/leases/${lease}`),
    setDown(is: boolean) {
      isDown = is
      if (is) for (const cut of streams) cut()
    },
    async end() {
      stopping.abort()
      await clock.settle()
      await ended
    },
  }
}

const LEASES = { 'node-1': 'kube-node-lease', 'kube-scheduler': 'kube-system', 'another-controller': 'kube-system' }

test('gaps between the renewals of a node, by its own clock; renewals of parts; nothing of other Leases', async () => {
  const scene = await start(LEASES)
  expect(scene.seen).toEqual(['part-renewed kube-scheduler'])
  for (const afterMs of [10_000, 43_000]) {
    await scene.clock.advance(afterMs)
    await scene.renew('node-1')
    await scene.renew('another-controller')
  }
  await scene.renew('kube-scheduler')
  await scene.clock.advance(1_000)
  expect(scene.seen.slice(1)).toEqual(['node-1 11000', 'node-1 43000', 'part-renewed kube-scheduler'])
  await scene.remove('kube-scheduler')
  await scene.clock.advance(1_000)
  expect(scene.seen.slice(4)).toEqual(['part-unknown kube-scheduler'])
  await scene.end()
})

test('while they cannot be read nothing is known of a part, and no gap is made of it', async () => {
  const scene = await start(LEASES)
  scene.setDown(true)
  await scene.clock.advance(60_000)
  expect(scene.seen.slice(1)).toEqual(['part-unknown kube-scheduler'])
  await scene.renew('node-1')
  scene.setDown(false)
  await scene.clock.advance(60_000)
  expect(scene.seen.slice(2)).toEqual(['part-renewed kube-scheduler'])
  await scene.end()
})
