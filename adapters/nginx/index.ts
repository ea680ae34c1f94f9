import { defineAdapter, resultKey } from '../define-adapter.ts'
import type { EffectResult } from '../contract.ts'
import { durationMs } from '../option-fields.ts'
import { createInstance, type Instance } from './instance.ts'
import { nginxOptions } from './options.ts'

/** The maximum number of servers in one write and one reload. */
const BATCH_MAX = 100

export const nginx = defineAdapter({
  name: 'nginx',
  summary: 'nginx (open source), through an upstream block in a file, and a reload.',
  options: nginxOptions,
  example: { file: '/etc/nginx/conf.d/web.conf', upstream: 'web' },
  capabilities: ({ settle }) => ({
    guarantee: 'G3',
    maxBatch: BATCH_MAX,
    inspect: 'strong',
    inFlight: 'none',
    volatileOnReload: false,
    // A reload closes kept connections of clients, also for requests to other servers.
    disruptsOthers: true,
    settleMs: durationMs(settle),
  }),
  open(options, { component }) {
    const hosts = options.hosts ?? [undefined]
    const instances = hosts.map((host) => createInstance({ component, host, options }))
    const byScope = new Map(instances.map((instance) => [instance.scope, instance]))

    async function change(
      scope: string | undefined,
      work: (instance: Instance) => Promise<Map<string, EffectResult>>,
    ): Promise<Map<string, EffectResult>> {
      const results = await work(byScope.get(scope!)!)
      return new Map([...results].map(([name, result]) => [resultKey({ name, scope: scope! }), result]))
    }

    return {
      scopes: [...byScope.keys()],
      // A host that is away must not block pods on the other hosts.
      async list(call) {
        const asked = instances.filter(({ scope }) => call.scopes?.includes(scope) ?? true)
        return (await Promise.all(asked.map((instance) => instance.list(call)))).flat()
      },
      drain: (entries, call) =>
        change(entries[0]!.scope, (instance) =>
          instance.drain(
            entries.map(({ name }) => name),
            call,
          ),
        ),
      restore: (formers, call) => change(formers[0]!.entry.scope, (instance) => instance.restore(formers, call)),
    }
  },
})
