import type { Clock } from '../../src/ports/clock.ts'
import type { Random } from '../../src/ports/random.ts'
import { type Kind, kindAmong } from './kinds.ts'
import type { Mutated } from './mutations.ts'
import type { Store } from './server.ts'
import type { Storage } from './storage.ts'
import { created, withGeneration } from './write.ts'

export interface StorePorts {
  clock: Clock
  random: Random
  mutated: Mutated
}

/** Creates direct access to the storage, without validation, rights and hooks other than those that mutate. */
export function createStore(storage: Storage, kinds: readonly Kind[], { mutated, ...ports }: StorePorts): Store {
  const kindOf = kindAmong(kinds)
  return {
    get: (resource, namespace, name) => storage.get(kindOf(resource), namespace, name)?.object,

    list: (resource, namespace) => (storage.list(kindOf(resource), namespace) ?? []).map(({ object }) => object),

    create(resource, object, by) {
      const kind = kindOf(resource)
      const { namespace = '', name } = object.metadata
      if (storage.get(kind, namespace, name) !== undefined) throw new Error(`${resource} ${namespace}/${name} exists already`)
      const fresh = created(kind, object, ports)
      return storage.put(kind, mutated(kind, { operation: 'CREATE', object: fresh, before: undefined, dryRun: false, by }), by)
        .object
    },

    update(resource, namespace, name, change, by) {
      const kind = kindOf(resource)
      const before = storage.get(kind, namespace, name)?.object
      const wanted = before && change(before)
      if (before === undefined || wanted === undefined) return before
      const asked = withGeneration(kind, before, wanted)
      const changed = mutated(kind, { operation: 'UPDATE', object: asked, before, dryRun: false, by })
      const object = changed === asked ? asked : withGeneration(kind, before, changed)
      return object === before ? before : storage.put(kind, object, by).object
    },

    remove: (resource, namespace, name, by) => storage.remove(kindOf(resource), namespace, name, by)?.object,

    subscribe: (listener) =>
      storage.onEvent(({ kind, verb, before, now, by }) =>
        listener(kind.resource, { verb, before: before?.object, after: verb === 'delete' ? undefined : now.object, by }),
      ),
  }
}
