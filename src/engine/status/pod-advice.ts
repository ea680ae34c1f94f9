import type { JournalStep, JournalTarget, PodView } from '../../pods/glossary.ts'
import type { Advice } from '../../reasons/advice.ts'
import type { LoadBalancerEntry } from '../../reasons/fields.ts'
import type { Reason, ReasonOf } from '../../reasons/reason.ts'
import { entriesBefore, resolve } from '../advice.ts'

/* The reasons and the advice of `sluice status` for a pod. */

export const STANDING: Record<JournalStep, (entries: LoadBalancerEntry[], pod: PodView) => Reason> = {
  drain: (entries) => ({ code: 'may-be-drained', entries }),
  patched: (entries, { ready }) => ({ code: 'is-patched', entries, ready }),
  restore: (entries) => ({ code: 'may-be-put-back', entries }),
  closed: () => ({ code: 'nothing-open' }),
}

interface Unreadable {
  problem: Reason
  /** The recorded targets, beside the journal. */
  targets: readonly JournalTarget[]
  /** Whether an unfinished run has the drain of the pod on record. */
  isOnRecord: boolean
}

/** The advice for a pod whose journal cannot be read. */
export function unreadableAdvice(pod: PodView, { problem, targets, isOnRecord }: Unreadable): Advice {
  const said = isOnRecord ? (['in', 'out'] as const) : (['in'] as const)
  return {
    code: 'say-for-unreadable-journal',
    pod: pod.name,
    problem,
    entries: entriesBefore(targets),
    isOnRecord,
    commands: said.map((traffic) => resolve(pod, { traffic })),
  }
}

export function movedAdvice(pod: PodView, targets: readonly JournalTarget[]): Advice {
  return {
    code: 'entries-mean-another-address',
    pod: pod.name,
    entries: entriesOf(targets),
    ...(pod.ip === undefined ? {} : { address: pod.ip }),
    commands: [resolve(pod, { traffic: 'in' })],
  }
}

/** `nowAt`: the address of the pod in its place. */
export function goneAdvice(pod: string, targets: readonly JournalTarget[], nowAt: string | undefined, namespace: string): Advice {
  const { resolve: command, code: _, ...facts } = awaitsPerson(pod, targets, nowAt, namespace)
  return { code: 'settle-for-gone-pod', ...facts, commands: [command] }
}

/** The warning of a plan with the facts of `goneAdvice`. */
export function awaitsPerson(
  pod: string,
  targets: readonly JournalTarget[],
  nowAt: string | undefined,
  namespace: string,
): ReasonOf<'awaits-person'> {
  return {
    code: 'awaits-person',
    pod,
    entries: entriesOf(targets),
    ...(nowAt === undefined ? {} : { replacementAt: nowAt }),
    resolve: resolve({ name: pod, namespace }, { gone: true, traffic: 'in' }),
  }
}

export function entriesOf(targets: readonly JournalTarget[]): LoadBalancerEntry[] {
  return targets.map(({ loadBalancer, target }) => ({ loadBalancer, target }))
}
