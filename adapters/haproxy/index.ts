import {
  addressesOf,
  type Adapter,
  type AdapterDefinition,
  AdapterError,
  type Call,
  type Capabilities,
  type EffectResult,
  type Endpoint,
  type Json,
  type ListedEntry,
  type Resolution,
  type Target,
} from '../contract.ts'
import { countByName, whyDealt } from './dns-slots.ts'
import { restoreCommands, weightChange } from './effects.ts'
import { createInstance, type Instance } from './instance.ts'
import { type HaproxyOptions, haproxyOptions } from './options.ts'
import { admission, parsePrior, priorOf, type ServerState } from './servers-state.ts'
import { formatAddress } from '../address.ts'
import { entryOf, formatTargetId, indexByAddress, whyShared } from './targets.ts'

/** The maximum number of targets in one call. A call uses one connection and reads all servers once. */
const BATCH_MAX = 100
/** The text that HAProxy shows for a server without an address. */
const UNRESOLVED = '-'

const capabilities: Capabilities = {
  guarantee: 'G1',
  maxBatch: BATCH_MAX,
  inspect: 'strong',
  inFlight: 'exact',
  volatileOnReload: true,
  disruptsOthers: false,
  settleMs: 0,
}

export const haproxy: AdapterDefinition<HaproxyOptions> = {
  name: 'haproxy',
  summary: 'HAProxy 2.6 or later, through the runtime API of its stats socket.',
  options: haproxyOptions,
  example: { socket: '/run/haproxy/admin.sock', backend: 'web' },
  create: (options, { name }) => createHaproxyAdapter(options, `haproxy ${name}`),
}

/** The servers of one instance. */
interface Listed {
  count: number
  byAddress: ReadonlyMap<string, ServerState[]>
  dnsNames: ReadonlyMap<string, number>
}

function createHaproxyAdapter({ socket, sockets, master, backend }: HaproxyOptions, component: string): Adapter {
  const addresses = sockets ?? [socket!]
  const instances = addresses.map((address) => createInstance({ component, socket: address, master, backend }))

  /** Calls each instance for its own targets, all at the same time. */
  function fanOut<T>(
    targets: readonly Target[],
    ask: (instance: Instance, ids: string[]) => Promise<Map<string, T>>,
  ): Promise<Map<string, T>>[] {
    const byScope = Map.groupBy(targets, ({ scope }) => scope)
    return [...byScope].map(([scope, own]) => {
      const instance = instances.find((candidate) => candidate.scope === scope)
      const ids = own.map(({ id }) => id)
      if (instance !== undefined) return ask(instance, ids)
      const message = `${ids[0]} is of ${scope}, which the config does not have: name that socket as it was, and run this again`
      return Promise.reject(new AdapterError(component, 'fatal', message))
    })
  }

  /** Collects the results. The error of an instance becomes the result of its targets, unless the call concerns only that instance. */
  async function settle<T>(
    targets: readonly Target[],
    asked: Promise<Map<string, T>>[],
    toResult: (error: AdapterError) => T,
  ): Promise<Map<string, T>> {
    const settled = await Promise.allSettled(asked)
    const results = new Map<string, T>()
    const scopes = [...Map.groupBy(targets, ({ scope }) => scope).values()]
    for (const [index, outcome] of settled.entries()) {
      if (outcome.status === 'fulfilled') for (const [id, result] of outcome.value) results.set(id, result)
      else if (settled.length === 1 || !(outcome.reason instanceof AdapterError)) throw outcome.reason
      else for (const { id } of scopes[index]!) results.set(id, toResult(outcome.reason))
    }
    return results
  }

  function resolveOne(endpoint: Endpoint, listed: readonly Listed[]): Resolution {
    const targets: Target[] = []
    const lacking: string[] = []
    for (const [index, { scope, socket: where }] of instances.entries()) {
      const { count, byAddress, dnsNames } = listed[index]!
      const own: Target[] = []
      for (const address of addressesOf(endpoint)) {
        const found = byAddress.get(formatAddress(address)) ?? []
        if (found.length > 1) return { found: false, reason: whyShared(backend, where, found), isThere: true }
        const [dealt] = found.flatMap((server) => whyDealt(backend, where, server, dnsNames) ?? [])
        if (dealt !== undefined) return { found: false, reason: dealt, isThere: true }
        own.push(...found.map((server) => ({ id: formatTargetId(sockets === undefined ? backend : scope, server), scope })))
      }
      if (own.length === 0) lacking.push(`${where} (${count} servers)`)
      targets.push(...own)
    }
    if (lacking.length === 0) return { found: true, targets }
    return {
      found: false,
      reason: `no server of backend ${backend} has the address ${addressesOf(endpoint).map(formatAddress).join(' or ')} in ${lacking.join(', ')}`,
      ...(targets.length > 0 ? { isThere: true } : {}),
    }
  }

  function failed(error: AdapterError): EffectResult {
    return { outcome: 'failed', error }
  }

  return {
    capabilities,

    async resolve(endpoints, call) {
      const listed = await Promise.all(
        instances.map(async (instance): Promise<Listed> => {
          const servers = await instance.list(call)
          return { count: servers.length, byAddress: indexByAddress(servers), dnsNames: countByName(servers) }
        }),
      )
      return endpoints.map((endpoint) => resolveOne(endpoint, listed))
    },

    inspect: (targets, call) =>
      settle(
        targets,
        fanOut(targets, (instance, ids) => instance.observe(ids, call)),
        ({ message }) => ({ admin: 'unknown', routable: false, inFlight: null, detail: message }),
      ),

    async snapshot(targets, call: Call) {
      const asked = fanOut(targets, async (instance, ids) => {
        const find = instance.finder(await instance.list(call))
        return new Map(ids.map((id) => [id, find(id)]))
      })
      const found = new Map((await Promise.all(asked)).flatMap((servers) => [...servers]))
      return new Map(
        [...found].map(([id, server]) => {
          if (server instanceof AdapterError) throw server
          const prior: Json = { ...priorOf(server) }
          return [id, { prior, inRotation: admission(server) === 'in', weight: server.weight }]
        }),
      )
    },

    drain: (targets, call) =>
      settle(
        targets,
        fanOut(targets, (instance, ids) => instance.drain(ids, call)),
        failed,
      ),

    async restore(wanted, call) {
      const priors = new Map(wanted.map(({ target, prior }) => [target.id, parsePrior(prior)]))
      const targets = wanted.map(({ target }) => target)
      const details = new Map<string, string>()
      const asked = fanOut(targets, (instance, ids) =>
        instance.restore(ids, call, (on, server, id) => {
          const prior = priors.get(id)
          if (prior === undefined) return new AdapterError(component, 'fatal', `the prior state of ${id} is not one of HAProxy`)
          const detail = weightChange(server, prior)
          if (detail !== undefined) details.set(id, detail)
          return restoreCommands(on, server, prior)
        }),
      )
      const results = await settle(targets, asked, failed)
      for (const [id, detail] of details)
        if (results.get(id)?.outcome === 'applied') results.set(id, { outcome: 'applied', detail })
      return results
    },

    async entries(call) {
      const all = await Promise.all(
        instances.map(async (instance) => {
          const servers = await instance.list(call)
          // A slot without an address is not an entry.
          const addressed = servers.filter(({ address }) => address !== UNRESOLVED)
          const prefix = sockets === undefined ? backend : instance.scope
          return addressed.map((server): ListedEntry => ({
            id: formatTargetId(prefix, server),
            address: server.address,
            port: server.port,
            admin: admission(server),
          }))
        }),
      )
      return all.flat()
    },

    entryOf: ({ id }) => entryOf(id),

    reaches: ({ scope }) => instances.some((instance) => instance.scope === scope),

    close() {
      for (const instance of instances) instance.close()
      return Promise.resolve()
    },
  }
}
