import type { BaselineContainer, JournalTarget, PodView } from '../pods/glossary.ts'
import type { Advice, EntryBefore } from '../reasons/advice.ts'
import type { Command } from '../reasons/command.ts'

export interface Stranded {
  pod: Pick<PodView, 'name' | 'namespace'>
  /** It does not exist any more. */
  gone: boolean
  /** It is there, and its containers have ended for good: evicted by its kubelet, say. */
  finished?: boolean
  /** The address of what has come in its place. */
  replacementAt?: string
  /** Where it is by now, if its entries mean another address. */
  movedTo?: string
  /** What may be out of rotation for it, as recorded before the drain. */
  targets: readonly JournalTarget[]
  /** What ran before the patch. */
  former: readonly Pick<BaselineContainer, 'name' | 'image'>[]
}

/**
 * What a person has to look at and to do where no run can go on by itself. The load balancer's own commands are not
 * here: the engine knows its entries, not its tools.
 */
export function needsOperatorAdvice(stranded: Stranded): Advice[] {
  const { pod, gone } = stranded
  const entries = entriesBefore(isPartSaid(stranded) ? unsaidOf(stranded.targets) : stranded.targets)
  const look: Advice[] = [
    ...(entries.length === 0 ? [] : [{ code: 'look-at-entries' as const, entries }]),
    ...(gone ? [] : [{ code: 'look-at-pod' as const, commands: [describe(pod)] }]),
  ]
  return [...look, wayOn(stranded), resolveAdvice(stranded)]
}

function wayOn({ gone, finished, movedTo, replacementAt }: Stranded): Advice {
  if (gone || finished) return { code: 'point-entries-at-replacement', ...(replacementAt === undefined ? {} : { replacementAt }) }
  return movedTo === undefined ? { code: 'run-again' } : { code: 'point-entries-at', address: movedTo }
}

/** What no run can know, a person looks at, and says. */
function resolveAdvice(stranded: Stranded): Advice {
  const { pod, gone, finished, movedTo, targets } = stranded
  // Out of rotation is not taken of a pod that is gone, has ended, or is at another address.
  if (gone || finished || movedTo !== undefined)
    return { code: 'say-entries-are-right', commands: [resolve(pod, { traffic: 'in', ...(gone ? { gone: true } : {}) })] }
  if (isPartSaid(stranded)) return putRestBack(pod, unsaidOf(targets))
  return { code: 'say-what-is-seen', commands: [resolve(pod, { traffic: 'out' }), resolve(pod, { traffic: 'in' })] }
}

/** A pod that is in rotation in some of its load balancers, as a person has said, cannot be called out in the others. */
export function putRestBack(pod: Stranded['pod'], rest: readonly JournalTarget[]): Advice {
  return { code: 'put-rest-back', commands: [resolve(pod, { traffic: 'in', loadBalancers: loadBalancersOf(rest) })] }
}

export function resolve(
  { name, namespace }: Stranded['pod'],
  flags: Pick<Extract<Command, { command: 'resolve' }>, 'traffic' | 'gone' | 'loadBalancers'>,
): Command {
  return { command: 'resolve', pod: name, namespace, ...flags }
}

export function loadBalancersOf(targets: readonly JournalTarget[]): string[] {
  return [...new Set(targets.map(({ loadBalancer }) => loadBalancer))]
}

/** For a pod that failed and stays out of rotation. */
export function failedAdvice({ pod, targets, former }: Stranded): Advice[] {
  return [
    { code: 'stays-out', entries: entriesBefore(targets) },
    { code: 'see-why', commands: [describe(pod)] },
    { code: 'upgrade-to-working-images', former: former.map(({ name, image }) => ({ container: name, image })) },
  ]
}

/** For a pod that takes requests again, on its former images. */
export function rolledBackAdvice(pod: Stranded['pod']): Advice[] {
  return [{ code: 'see-why-it-failed', commands: [describe(pod)] }]
}

/** On its way back, and there. */
function isPartSaid({ gone, finished, movedTo, targets }: Stranded): boolean {
  return !gone && !finished && movedTo === undefined && targets.some(({ said }) => said === 'in')
}

/** Of these a person has not said that the pod is in rotation. */
export function unsaidOf(targets: readonly JournalTarget[]): JournalTarget[] {
  return targets.filter(({ said, untouched }) => said !== 'in' && !untouched)
}

/** The entries that sluice may have drained, each with what it was before that. */
export function entriesBefore(targets: readonly JournalTarget[]): EntryBefore[] {
  return targets.flatMap(({ loadBalancer, target, prior, untouched }) => (untouched ? [] : [{ loadBalancer, target, prior }]))
}

function describe({ name, namespace }: Stranded['pod']): Command {
  return { command: 'kubectl', namespace, args: ['describe', 'pod', name] }
}
