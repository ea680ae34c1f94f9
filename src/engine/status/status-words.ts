import type { JournalStep, JournalTarget, PodView } from '../../pods/glossary.ts'
import { entriesOf, resolveCommand } from '../instructions.ts'

/* What `sluice status` says of a pod, and asks of a person. */

export const DETAIL: Record<JournalStep, (targets: readonly JournalTarget[], pod: PodView) => string> = {
  drain: (targets) => `drained, or about to be: ${names(targets)}`,
  patched: (targets, pod) => `patched and out of rotation: ${names(targets)}${pod.ready ? '' : '; not ready'}`,
  restore: (targets) => `about to be put back: ${names(targets)}`,
  closed: () => '',
}

interface Unreadable {
  reason: string
  /** What is on record of it beside its journal. */
  targets: readonly JournalTarget[]
  /** A run that is not finished says what was drained for it. */
  isOnRecord: boolean
}

/** Its journal cannot be read. */
export function unreadableWords(pod: PodView, { reason, targets, isOnRecord }: Unreadable): string {
  const entries = entriesOf({ targets })
  const say = isOnRecord ? 'say what you have seen, in or out:' : 'bring it into rotation by hand, and say so:'
  const look =
    entries.length === 0
      ? [`Look at the load balancer, then ${say}`]
      : ['Look at these entries; before the drain they were as given:', ...entries, `Then ${say}`]
  return [
    `The journal of pod/${pod.name} (sluice.dev/journal) cannot be read: ${reason}. ${look[0]}`,
    ...look.slice(1),
    resolveCommand(pod, '--traffic in'),
    ...(isOnRecord ? [resolveCommand(pod, '--traffic out')] : []),
  ].join('\n')
}

export function movedWords(pod: PodView, targets: readonly JournalTarget[]): string {
  return `${names(targets)} was drained for pod/${pod.name}, which has come to another address since (now ${pod.ip ?? 'none'}): point the entry at it and leave it drained, or remove it, and run the same command again; or put it back, and say so:\n${resolveCommand(pod, '--traffic in')}`
}

/** Put back as it is, an entry sends requests to an address that nobody has, or somebody else. */
export function goneWords(pod: string, targets: readonly JournalTarget[], nowAt: string | undefined, namespace: string): string {
  const heir = nowAt === undefined ? 'the pod in its place' : `the pod in its place (${nowAt})`
  return `${names(targets)} was drained for pod/${pod}, which is gone, and no ready pod has come to its address: point the entry at ${heir} and leave it drained, or remove it, and run the same command again; or, once it is as it should be, say so:\n${resolveCommand({ name: pod, namespace }, '--gone --traffic in')}`
}

export function names(targets: readonly JournalTarget[]): string {
  return targets.map(({ loadBalancer, target }) => `${loadBalancer}: ${target}`).join(', ') || 'in no load balancer'
}
