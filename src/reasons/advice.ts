import type { Command } from './command.ts'
import type { Reason } from './reason.ts'
import type { LoadBalancerEntry, NamedImage, NoFields } from './fields.ts'

/** An entry with the state that it had before the drain, in the adapter's canonical form. */
export interface EntryBefore extends LoadBalancerEntry {
  prior: unknown
  /** An operator had it out of rotation: sluice gave it no call. */
  untouched?: true
}

interface Commands {
  commands: Command[]
}

/** The fields of each piece of advice, by its code. */
export interface AdviceFields {
  /** The entries were as given before the drain. */
  'look-at-entries': { entries: EntryBefore[] }
  'look-at-pod': Commands
  /** Point the entries at the replacement, still drained, or remove them; then run the same command again. `replacementAt`: its address, where it has come. */
  'point-entries-at-replacement': { replacementAt?: string }
  /** The same, where the pod has another address now. */
  'point-entries-at': { address: string }
  /** The same command reads what is there, and goes on. */
  'run-again': NoFields
  /** Say that each entry is as it should be. */
  'say-entries-are-right': Commands
  /** Look half a minute from now, and say what is seen. The first command says out, the second in. */
  'say-what-is-seen': Commands
  /** Put back what is out of rotation still, and say that it is in. */
  'put-rest-back': Commands
  /** The pod stays out of rotation in these entries. */
  'stays-out': { entries: EntryBefore[] }
  'see-why': Commands
  /** Images that work take the pod from there, and put it back as it was. */
  'upgrade-to-working-images': { former: NamedImage[] }
  'see-why-it-failed': Commands
  /** The entries are to be as before the drain at the address of the replacement, unless somebody wants them out. */
  'entries-of-replacement': { replacement: string; entries: EntryBefore[] }
  /** The first command says put back or removed, the second that somebody wants it out. */
  'say-how-entries-stand': Commands
  /** Not everything that a person was to say is said. */
  'rest-is-left': { entries: LoadBalancerEntry[] }
  'rest-is-left-of-gone': { entries: LoadBalancerEntry[] } & Commands
  /** `isOnRecord`: a run that is not finished says what was drained for the pod. */
  'say-for-unreadable-journal': { pod: string; problem: Reason; entries: EntryBefore[]; isOnRecord: boolean } & Commands
  /** The pod has come to another address than its entries mean. */
  'entries-mean-another-address': { pod: string; entries: LoadBalancerEntry[]; address?: string } & Commands
  'settle-for-gone-pod': { pod: string; entries: LoadBalancerEntry[]; replacementAt?: string } & Commands
  /** Nobody can tell what the run has left open. */
  'remove-unreadable-record': Commands
}

export type AdviceCode = keyof AdviceFields

/** What a person has to look at, and to do, where no run can go on by itself. */
export type Advice = { [C in AdviceCode]: { readonly code: C } & Readonly<AdviceFields[C]> }[AdviceCode]
