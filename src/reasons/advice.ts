import type { Command } from './command.ts'
import type { Reason } from './reason.ts'
import type { LoadBalancerEntry, NamedImage, NoFields } from './fields.ts'

/** An entry with its state before the drain, in the adapter's canonical form. */
export interface EntryBefore extends LoadBalancerEntry {
  prior: unknown
  /** An operator had the entry out of rotation; sluice sent no call for it. */
  untouched?: true
}

interface Commands {
  commands: Command[]
}

/** The fields of each piece of advice, by its code. */
export interface AdviceFields {
  /** Look at the entries. `entries` has their states before the drain. */
  'look-at-entries': { entries: EntryBefore[] }
  'look-at-pod': Commands
  /**
   * Point the entries at the replacement, still drained, or remove them; then run the same command again. `replacementAt`: the address of
   * the replacement, if it exists already.
   */
  'point-entries-at-replacement': { replacementAt?: string }
  /** Point the entries of the pod at its new address, still drained, or remove them; then run the same command again. */
  'point-entries-at': { address: string }
  /** Run the same command again: it reads the current state, and goes on. */
  'run-again': NoFields
  /** Confirm that each entry is as it should be. */
  'say-entries-are-right': Commands
  /** Look at the entries half a minute from now, and report their state. The first command reports `out`, the second `in`. */
  'say-what-is-seen': Commands
  /** Put the entries back that are still out of rotation, and report that the pod is in. */
  'put-rest-back': Commands
  /** The pod stays out of rotation in these entries. */
  'stays-out': { entries: EntryBefore[] }
  'see-why': Commands
  /** Upgrade to working images: the run takes the pod over, and puts it back as it was before. */
  'upgrade-to-working-images': { former: NamedImage[] }
  'see-why-it-failed': Commands
  /** The entries get the state from before the drain at the address of the replacement, unless an operator wants them out. */
  'entries-of-replacement': { replacement: string; entries: EntryBefore[] }
  /**
   * Report the state of the entries. The first command says that they were put back or removed, the second that an operator wants them out.
   */
  'say-how-entries-stand': Commands
  /** The report of a person is incomplete; these entries are left. */
  'rest-is-left': { entries: LoadBalancerEntry[] }
  'rest-is-left-of-gone': { entries: LoadBalancerEntry[] } & Commands
  /** Report the state of a pod whose journal is not readable. `isOnRecord`: an unfinished run has a record of the drained entries. */
  'say-for-unreadable-journal': { pod: string; problem: Reason; entries: EntryBefore[]; isOnRecord: boolean } & Commands
  /** The pod has another address than its entries. */
  'entries-mean-another-address': { pod: string; entries: LoadBalancerEntry[]; address?: string } & Commands
  'settle-for-gone-pod': { pod: string; entries: LoadBalancerEntry[]; replacementAt?: string } & Commands
  /** Remove a record that is not readable; the open work of its run is not known. */
  'remove-unreadable-record': Commands
}

export type AdviceCode = keyof AdviceFields

/** An instruction for a person, if no run can go on by itself. */
export type Advice = { [C in AdviceCode]: { readonly code: C } & Readonly<AdviceFields[C]> }[AdviceCode]
