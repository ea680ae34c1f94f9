import { createApiServer } from '../../sim/api-server/api-server.ts'
import type { KubeObject, NewObject } from '../../sim/api-server/server.ts'
import { writeJournal } from '../../src/journal/journal.ts'
import { realisticJournal } from '../../src/journal/testing/journals.ts'
import type { KubeClient } from '../../src/kube/client.ts'
import { createKubeClient } from '../../src/kube/kube-client.ts'
import { createVirtualClock, type VirtualClock } from '../../src/kube/testing/virtual-clock.ts'
import { type Transport, TransportError, type TransportRequest } from '../../src/kube/transport.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { JournalStep } from '../../src/pods/glossary.ts'
import type { SyncedService } from '../../src/sync/model.ts'
import { startSync } from '../../src/sync/start-sync.ts'
import type { SyncEvent } from '../../src/sync/sync-run.ts'
import { synced } from '../../src/sync/testing/copies.ts'

/* Embedded API servers as sources and as the access cluster, with sync between them, in virtual time. */

const SLICES = 'endpointslices.discovery.k8s.io'

/** What becomes of a request: it arrives, is lost with its connection before or after it has arrived, is refused, or is answered late. */
export type Fault = 'lost' | 'answer-lost' | 'refused' | 'late' | undefined

export const LATE_MS = 5_000

export interface BedCluster {
  readonly name: string
  readonly store: ReturnType<typeof createApiServer>['store']
  readonly server: ReturnType<typeof createApiServer>
  /** The requests that were not reads, by whoever has sent them. */
  readonly writes: { by: string; method: string; path: string; at: number }[]
  client(by: string): KubeClient
  setDown(isDown: boolean, by?: string): void
  /** Ends all watches. */
  cut(): void
  /** Replaces the API server by one with other objects. */
  remake(): void
  fault: ((request: TransportRequest, by: string) => Fault) | undefined
  /** The `Date` header runs ahead of the time by this; undefined: there is none. */
  dateAheadMs: number | undefined
}

export interface Given {
  services?: readonly SyncedService[]
  by?: string
  /** True, or the name of the Lease. */
  lease?: boolean | string
  isReader?: true
  /** The name of the sync in its slices, where it is not that of the Lease. */
  instance?: string
  ownClock?: Clock
}

export function createBed() {
  const clock = createVirtualClock()
  let seed = 11
  const random = { next: () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647 }
  let count = 0

  function cluster(name: string): BedCluster {
    let server = make()
    const down = new Set<string>()
    const streams = new Map<() => void, string>()

    function make() {
      const made = createApiServer({ clock, random })
      for (const namespace of ['kube-system', 'shop'])
        if (made.store.get('namespaces', '', namespace) === undefined)
          made.store.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, 'test')
      return made
    }

    const isDown = (by: string): boolean => down.has('') || down.has(by)

    function cut(by: string): void {
      for (const [end, of] of streams) {
        if (by !== '' && of !== by) continue
        streams.delete(end)
        end()
      }
    }

    function transport(by: string): Transport {
      return {
        async send(request) {
          // An answer takes a turn, as on a network.
          await Promise.resolve()
          if (isDown(by)) throw new TransportError('connection refused', { bytesLeft: false })
          const fault = bed.fault?.(request, by)
          if (fault === 'refused') throw new TransportError('connection refused', { bytesLeft: false })
          if (fault === 'late') await new Promise<void>((resolve) => clock.setTimeout(resolve, LATE_MS))
          if (fault === 'lost') throw new TransportError('connection reset', { bytesLeft: true })
          request.beforeSend?.()
          if (request.method !== 'GET' && !request.path.includes('/leases'))
            bed.writes.push({ by, method: request.method, path: request.path, at: clock.now() })
          const answer = server.handle(request, by)
          if (fault === 'answer-lost') throw new TransportError('connection reset', { bytesLeft: true })
          const { dateAheadMs } = bed
          if (dateAheadMs === undefined) return answer
          const date = new Date(clock.wallNow() + dateAheadMs).toUTCString()
          return { ...answer, headers: { ...answer.headers, date } }
        },
        stream: (request, onLine, onOpen) =>
          new Promise((resolve, reject) => {
            const fault = bed.fault?.(request, by)
            if (isDown(by) || fault !== undefined) return reject(new TransportError('connection refused', { bytesLeft: false }))
            const finish = (): void => resolve({ status: 200, headers: {}, text: '' })
            const watching = server.watch(request, { line: onLine, end: finish }, by)
            if (watching.kind === 'refused') return resolve(watching.answer)
            onOpen?.()
            const breakOff = (): void => {
              watching.close()
              reject(new TransportError('connection reset', { bytesLeft: true }))
            }
            streams.set(breakOff, by)
            request.signal?.addEventListener('abort', () => {
              streams.delete(breakOff)
              watching.close()
              finish()
            })
          }),
        close: () => Promise.resolve(),
      }
    }

    const bed: BedCluster = {
      name,
      get store() {
        return server.store
      },
      get server() {
        return server
      },
      writes: [],
      client: (by) => createKubeClient({ transport: transport(by), clock, random }),
      setDown(is, by = '') {
        if (is) down.add(by)
        else down.delete(by)
        if (is) cut(by)
      },
      cut: () => cut(''),
      remake() {
        server = make()
        cut('')
      },
      fault: undefined,
      dateAheadMs: 0,
    }
    return bed
  }

  const [access, east, west] = [cluster('access'), cluster('east'), cluster('west')]

  async function start({ services = [synced()], by = 'sync', lease = false, ownClock = clock, ...own }: Given = {}) {
    const stopping = new AbortController()
    const events: SyncEvent[] = []
    const run = startSync({
      ...own,
      services,
      access: access.client(by),
      sources: [east, west].map((source) => ({ name: source.name, connect: async () => source.client(by) })),
      clock: ownClock,
      random,
      signal: stopping.signal,
      ...(lease === false ? {} : { lease: { namespace: 'shop', name: lease === true ? 'sluice-sync' : lease, identity: by } }),
      onEvent: (event) => events.push(event),
    })
    await clock.advance(2_000)
    return {
      ...run,
      events,
      problems: () => run.snapshot().services.flatMap(({ problems }) => problems.map(({ code }) => code)),
      told: (type: SyncEvent['type']) => events.filter((event) => event.type === type),
      async stop() {
        stopping.abort()
        await clock.advance(0)
        await run.ended
      },
      /** The process dies: it sends nothing any more, and gives nothing back. */
      kill() {
        for (const one of [access, east, west]) one.setDown(true, by)
      },
    }
  }

  return {
    clock: clock as VirtualClock,
    access,
    east,
    west,
    start,
    service(at: BedCluster, options: { selector?: Record<string, string>; name?: string; port?: number } = {}): KubeObject {
      const { selector, name = 'web', port = 80 } = options
      return at.store.create(
        'services',
        {
          apiVersion: 'v1',
          kind: 'Service',
          metadata: { name, namespace: 'shop' },
          spec: { ports: [{ name: 'http', port, protocol: 'TCP' }], ...(selector === undefined ? {} : { selector }) },
        },
        'test',
      )
    },
    /** Sets the endpoints of a slice of a source: the addresses, with those that are not ready after a `!`. */
    endpoints(
      at: BedCluster,
      addresses: readonly string[],
      options: { slice?: string; service?: string; triggerAt?: number } = {},
    ) {
      const { slice = 'web-1', service = 'web', triggerAt } = options
      const fields = {
        addressType: 'IPv4',
        ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
        endpoints: addresses.map((text) => ({
          addresses: [text.replace('!', '')],
          conditions: { ready: !text.startsWith('!'), serving: !text.startsWith('!'), terminating: false },
          nodeName: 'node',
          targetRef: { kind: 'Pod', name: text.replace('!', ''), namespace: 'shop', uid: uidOf(at, text) },
        })),
      }
      const annotations =
        triggerAt === undefined ? {} : { 'endpoints.kubernetes.io/last-change-trigger-time': new Date(triggerAt).toISOString() }
      if (at.store.get(SLICES, 'shop', slice) === undefined)
        at.store.create(
          SLICES,
          {
            apiVersion: 'discovery.k8s.io/v1',
            kind: 'EndpointSlice',
            metadata: {
              name: slice,
              namespace: 'shop',
              labels: {
                'kubernetes.io/service-name': service,
                'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
              },
              annotations,
            },
            ...fields,
          } as NewObject,
          'test',
        )
      else
        at.store.update(
          SLICES,
          'shop',
          slice,
          (now) => ({ ...now, ...fields, metadata: { ...now.metadata, annotations } }),
          'test',
        )
    },
    /** Makes the pod of an address. */
    pod(at: BedCluster, address: string) {
      at.store.create(
        'pods',
        {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: address, namespace: 'shop' },
          spec: { containers: [{ name: 'app', image: 'app:v1' }] },
          status: { podIP: address },
        } as NewObject,
        'test',
      )
    },
    journal(at: BedCluster, address: string, step: JournalStep) {
      const { uid } = at.store.get('pods', 'shop', address)!.metadata
      at.store.update(
        'pods',
        'shop',
        address,
        (now) => ({
          ...now,
          metadata: { ...now.metadata, annotations: { 'sluice.dev/journal': writeJournal({ ...realisticJournal, step }, uid) } },
        }),
        'test',
      )
    },
    slices: (at: BedCluster = access): KubeObject[] => at.store.list(SLICES, 'shop'),
    /** The copies as texts, such as `east 10.1.0.1` and `east !10.1.0.2`. */
    copies(): string[] {
      return access.store
        .list(SLICES, 'shop')
        .flatMap(({ metadata, endpoints = [] }) =>
          (endpoints as { addresses: string[]; conditions: { ready: boolean } }[]).map(
            ({ addresses, conditions }) =>
              `${metadata.labels?.['multicluster.kubernetes.io/source-cluster'] ?? 'foreign'} ${conditions.ready ? '' : '!'}${addresses[0]}`,
          ),
        )
        .sort()
    },
    unique: () => (count += 1),
  }
}

function uidOf(at: BedCluster, text: string): string {
  const address = text.replace('!', '')
  return at.store.get('pods', 'shop', address)?.metadata.uid ?? `pod-${address}`
}

export type Bed = ReturnType<typeof createBed>
