import type { Kind } from './kinds.ts'
import type { KubeObject, MutatingHook, Resource } from './server.ts'

/** A write before the mutating hooks have seen it. */
export type UnmutatedWrite = Omit<Parameters<MutatingHook>[0], 'resource'>
/** Returns the object to store. */
export type Mutated = (kind: Kind, write: UnmutatedWrite) => KubeObject

export interface Mutations {
  add(resources: readonly Resource[], hook: MutatingHook): void
  /** Calls the hooks of the kind in order. */
  mutated: Mutated
}

export function createMutations(): Mutations {
  const hooks: { resources: ReadonlySet<Resource>; hook: MutatingHook }[] = []
  return {
    add: (resources, hook) => hooks.push({ resources: new Set(resources), hook }),
    mutated: ({ resource }, write) =>
      hooks.reduce(
        (object, { resources, hook }) => (resources.has(resource) ? hook({ ...write, resource, object }) : object),
        write.object,
      ),
  }
}
