import type { Adapter, Call } from '../../adapters/contract.ts'
import type { Config } from '../../src/config/config.ts'
import type { KubeClient } from '../../src/kube/client.ts'
import { createSluice, type Sluice } from '../../src/library/create-sluice.ts'
import type { SluiceOptions } from '../../src/library/options.ts'
import type { RunPorts } from '../../src/engine/run.ts'
import type { Clock } from '../../src/ports/clock.ts'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'
import { PLAIN_SETTINGS, plainScene, type Scene } from './scene.ts'
import { openStage, type Stage } from './stage.ts'

/** The open resources of a sluice. */
export interface StillOpen {
  calls: number
  watches: number
  timers: number
  /** The calls to load balancers. */
  asked: number
  /** The adapters that are not closed. */
  adapters: number
}

export const NOTHING: StillOpen = { calls: 0, watches: 0, timers: 0, asked: 0, adapters: 0 }

/** The library against the simulated cluster, on a virtual clock. Everything that it opens is counted. */
export interface LibraryBed {
  stage: Stage
  sluice: Sluice
  open: StillOpen
  /** The requests that change an object, as `PATCH /path`. Reviews of rights and dry runs do not count. */
  writes: string[]
  /** Adds a listener for the start of calls to the API server or a load balancer, numbered from 0 over both. */
  onCall(listener: (index: number) => void): void
  /** Creates another sluice in the same process, with its own feeds and adapters and the same cluster. */
  another(options?: Partial<SluiceOptions>): Sluice
}

/** The modules that the library loads on demand. On the virtual clock, hours would pass during their load. */
const LOADED_LATER = [
  import('../../src/engine/run.ts'),
  import('../../src/engine/orders/abort.ts'),
  import('../../src/engine/status/read-status.ts'),
  import('../../src/library/orders.ts'),
  import('../../src/library/records.ts'),
  import('../../src/workloads/images-on-nodes.ts'),
]

export const REQUEST = {
  workload: `statefulset/${NAME}`,
  namespace: NAMESPACE,
  images: { app: imageOf('v2') },
}

export async function openLibraryBed(scene: Partial<Scene> = {}): Promise<LibraryBed> {
  await Promise.all(LOADED_LATER)
  const stage = await openStage(plainScene({ pods: 3, ...scene }))
  const given = Promise.withResolvers<RunPorts>()
  // The process starts nothing by itself. The library uses its ports.
  stage.start({}, (ports) => {
    given.resolve(ports)
    return new Promise<never>(() => {})
  })
  const ports = await stage.ask(given.promise)
  const open = { ...NOTHING }
  const writes: string[] = []
  let calls = 0
  let listener = (_index: number): void => {}

  async function counted<Answer>(what: 'calls' | 'watches' | 'asked', call: () => Promise<Answer>): Promise<Answer> {
    open[what] += 1
    listener(calls++)
    try {
      return await call()
    } finally {
      open[what] -= 1
    }
  }

  function written(method: string, path: string, options: { dryRun?: boolean } = {}): void {
    if (options.dryRun !== true && !path.includes('authorization.k8s.io')) writes.push(`${method} ${path}`)
  }

  const { client } = ports
  const countedClient: KubeClient = {
    get: (path, options) => counted('calls', () => client.get(path, options)),
    create(path, body, options) {
      written('POST', path, options)
      return counted('calls', () => client.create(path, body, options))
    },
    replace(path, body, options) {
      written('PUT', path, options)
      return counted('calls', () => client.replace(path, body, options))
    },
    patch(path, operations, options) {
      written('PATCH', path, options)
      return counted('calls', () => client.patch(path, operations, options))
    },
    delete(path, options) {
      written('DELETE', path)
      return counted('calls', () => client.delete(path, options))
    },
    watch: (path, options) => counted('watches', () => client.watch(path, options)),
  }

  const timers = new Set<unknown>()
  const clock: Clock = {
    now: ports.clock.now,
    wallNow: ports.clock.wallNow,
    setTimeout(callback, delayMs) {
      const handle = ports.clock.setTimeout(() => {
        timers.delete(handle)
        open.timers = timers.size
        callback()
      }, delayMs)
      timers.add(handle)
      open.timers = timers.size
      return handle
    },
    clearTimeout(handle) {
      timers.delete(handle)
      open.timers = timers.size
      ports.clock.clearTimeout(handle)
    },
  }

  function countedAdapter(adapter: Adapter): Adapter {
    open.adapters += 1
    const of = <Args extends readonly unknown[], Answer>(call: (...args: [...Args, Call]) => Promise<Answer>) =>
      ((...args: [...Args, Call]) => counted('asked', () => call(...args))) as (...args: [...Args, Call]) => Promise<Answer>
    return {
      ...adapter,
      resolve: of(adapter.resolve),
      inspect: of(adapter.inspect),
      snapshot: of(adapter.snapshot),
      drain: adapter.drain,
      restore: adapter.restore,
      async close() {
        // Another sluice of the bed continues to use the adapter.
        open.adapters -= 1
      },
    }
  }

  const config: Config = {
    file: 'simulated',
    folder: '/',
    settings: PLAIN_SETTINGS,
    loadBalancers: ports.loadBalancers.map(({ name, adapterName, adapter, port, drainTurn = 0 }) => ({
      name,
      adapter: adapterName,
      port,
      drainTurn,
      options: {},
      definition: {
        name: adapterName,
        summary: 'Simulated.',
        options: undefined as never,
        create: () => countedAdapter(adapter),
      },
    })),
  }

  function another(options: Partial<SluiceOptions> = {}): Sluice {
    return createSluice({
      cluster: { client: countedClient, namespace: NAMESPACE, close: async () => {} },
      config,
      clock,
      random: ports.random,
      identity: ports.identity,
      by: 'ann@desk',
      ...options,
    })
  }

  return { stage, sluice: another(), open, writes, another, onCall: (one) => void (listener = one) }
}
