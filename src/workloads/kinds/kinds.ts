import { isSameKind, kindOfOwner, type KindName } from '../../pods/workload-id.ts'
import type { Kind, Mechanism } from './kind.ts'

/** The kinds that a process knows. */
export interface Kinds {
  readonly all: readonly Kind[]
  kindOf(name: Pick<KindName, 'group' | 'kind'>): Kind | undefined
  /** Finds a kind by the TYPE of `TYPE/NAME`, as kubectl does: long, short and plural names, also with the group, such as `sts.apps`. */
  kindNamed(type: string): Kind | undefined
  /** The kind that manages the pods of this owner: the owner's kind, or the kind that makes such owners. */
  ofOwner(owner: { apiVersion: string; kind: string }): Kind | undefined
}

/** @param all the kinds; a name that two of them share means the first */
export function createKinds(all: readonly Kind[]): Kinds {
  const kindOf: Kinds['kindOf'] = (name) => all.find((kind) => isSameKind(kind, name))
  return {
    all,
    kindOf,
    kindNamed(type) {
      const [name = '', ...rest] = type.toLowerCase().split('.')
      return all.find((kind) => namesOf(kind).includes(name) && groupsOf(kind).includes(rest.join('.')))
    },
    ofOwner(owner) {
      const name = kindOfOwner(owner)
      return kindOf(name) ?? all.find(({ mechanism }) => isThrough(mechanism, name))
    },
  }
}

/** All names of the kind on the command line, without its group. */
export function namesOf({ kind, plural, shortNames }: Kind): string[] {
  return [kind.toLowerCase(), plural, ...shortNames]
}

function isThrough(mechanism: Mechanism | undefined, name: Pick<KindName, 'group' | 'kind'>): boolean {
  return mechanism?.type === 'pods-alone' && isSameKind(mechanism.through, name)
}

function groupsOf({ group, version }: Kind): string[] {
  return group === '' ? ['', version] : ['', group, `${version}.${group}`]
}
