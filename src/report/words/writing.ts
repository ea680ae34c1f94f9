import type { Command } from '../../reasons/command.ts'
import type { EntryReading, LoadBalancerEntry } from '../../reasons/fields.ts'
import type { Place } from '../../reasons/refusals.ts'
import type { Reason, ReasonCode, ReasonFields } from '../../reasons/reason.ts'

/** The writing of reasons and commands within a sentence. */
export interface Writing {
  reason(reason: Reason): string
  /** The shell form of a command. */
  command(command: Command): string
}

/** The words for the reasons in `Fields`. */
export type WordsOf<Fields extends Partial<Record<ReasonCode, unknown>>> = {
  [C in keyof Fields & ReasonCode]: (facts: Readonly<ReasonFields[C]>, write: Writing) => string
}

export function entries(some: readonly LoadBalancerEntry[]): string {
  return some.map(({ loadBalancer, target }) => `${loadBalancer}/${target}`).join(', ')
}

/** The form of a verb or another word that agrees with the number. */
export function agreeing(some: readonly unknown[] | number, one: string, many: string): string {
  return (typeof some === 'number' ? some : some.length) === 1 ? one : many
}

/** Entries for a person who looks at the load balancers. */
export function listed(some: readonly LoadBalancerEntry[]): string {
  return some.map(({ loadBalancer, target }) => `${loadBalancer}: ${target}`).join(', ') || 'in no load balancer'
}

export function entryReading({ loadBalancer, target, admin, inFlight, said, by }: EntryReading, write: Writing): string {
  const flight = inFlight === null ? 'in flight unknown' : `${inFlight} in flight`
  const more = by === undefined ? said : write.reason(by)
  return `${loadBalancer}/${target} ${admin}, ${flight}${more === undefined ? '' : ` (${more})`}`
}

/** The replacement of a pod that is gone, with its address if it is known. */
export function inItsPlace(replacementAt: string | undefined): string {
  return `the pod in its place${replacementAt === undefined ? '' : ` (${replacementAt})`}`
}

/** The instruction for the drained entries of a pod that is gone, up to the command that reports the result. */
export function goneAndDrained(pod: string, some: readonly LoadBalancerEntry[], replacementAt: string | undefined): string {
  const [was, entry, it, is] = some.length === 1 ? ['was', 'entry', 'it', 'it is'] : ['were', 'entries', 'them', 'each is']
  return (
    `${listed(some)} ${was} drained for pod/${pod}, which is gone, and no ready pod has come to its address: point the ${entry} at ` +
    `${inItsPlace(replacementAt)} and leave ${it} drained, or remove ${it}, and run the same command again; or, once ${is} as it should be, say so:`
  )
}

/** A load balancer, or a scope of it. */
export function place({ loadBalancer, scope }: Place): string {
  return scope === undefined ? `the load balancer "${loadBalancer}"` : `"${scope}" of the load balancer "${loadBalancer}"`
}

/** The cause after a colon, if it is known. */
export function cause(because: Reason | undefined, write: Writing): string {
  return because === undefined ? '' : `: ${write.reason(because)}`
}

export function seconds(ms: number): string {
  return `${ms / 1000} s`
}

const SHOWN = 3

/** A list such as `pods web-0, web-1, web-2 and 7 more`. */
export function podNames(names: readonly string[]): string {
  const sorted = names.toSorted()
  const hidden = sorted.length - SHOWN
  const shown = sorted.slice(0, SHOWN).join(', ')
  return `${names.length === 1 ? 'pod' : 'pods'} ${hidden > 0 ? `${shown} and ${hidden} more` : shown}`
}
