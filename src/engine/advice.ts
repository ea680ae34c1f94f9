import type { BaselineContainer, JournalTarget, PodView } from '../pods/glossary.ts'
import type { Advice, EntryBefore } from '../reasons/advice.ts'
import type { Command } from '../reasons/command.ts'

export interface Stranded {
  pod: Pick<PodView, 'name' | 'namespace'>
  /** The pod does not exist any more. */
  gone: boolean
  /** The pod exists, and its containers have ended for good, for example after an eviction by the kubelet. */
  finished?: boolean
  /** The address of the pod that came in its place. */
  replacementAt?: string
  /** The current address of the pod. Present where the pod's entries mean another address. */
  movedTo?: string
  /** The entries that may be out of rotation for the pod, as recorded before the drain. */
  targets: readonly JournalTarget[]
  /** The containers with their images before the patch. */
  former: readonly Pick<BaselineContainer, 'name' | 'image'>[]
}

/**
 * Makes the advice for a pod with which no run can go on. Commands of load balancers are not included: the engine knows the entries, and
 * not the tools of the load balancer.
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

/** The advice to look at the entries and to state their traffic with `sluice resolve`, since only a person can find that out. */
function resolveAdvice(stranded: Stranded): Advice {
  const { pod, gone, finished, movedTo, targets } = stranded
  // `sluice resolve` refuses `--traffic out` for a pod that is gone, has ended, or is at another address.
  if (gone || finished || movedTo !== undefined)
    return { code: 'say-entries-are-right', commands: [resolve(pod, { traffic: 'in', ...(gone ? { gone: true } : {}) })] }
  if (isPartSaid(stranded)) return putRestBack(pod, unsaidOf(targets))
  return { code: 'say-what-is-seen', commands: [resolve(pod, { traffic: 'out' }), resolve(pod, { traffic: 'in' })] }
}

/**
 * The advice for a pod whose entries a person has confirmed in some load balancers: the pod cannot be called out of rotation in the others.
 */
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

/** The advice for a pod that failed and stays out of rotation. */
export function failedAdvice({ pod, targets, former }: Stranded): Advice[] {
  return [
    { code: 'stays-out', entries: entriesBefore(targets) },
    { code: 'see-why', commands: [describe(pod)] },
    { code: 'upgrade-to-working-images', former: former.map(({ name, image }) => ({ container: name, image })) },
  ]
}

/** The advice for a pod that gets requests again, on its former images. */
export function rolledBackAdvice(pod: Stranded['pod']): Advice[] {
  return [{ code: 'see-why-it-failed', commands: [describe(pod)] }]
}

/** Reports whether a person has said of some entries that they are in, and the pod still exists at its address. */
function isPartSaid({ gone, finished, movedTo, targets }: Stranded): boolean {
  return !gone && !finished && movedTo === undefined && targets.some(({ said }) => said === 'in')
}

/** The entries of which a person has not said that they are in rotation. Entries that sluice did not touch are not included. */
export function unsaidOf(targets: readonly JournalTarget[]): JournalTarget[] {
  return targets.filter(({ said, untouched }) => said !== 'in' && !untouched)
}

/** The entries that sluice may have drained, each with its state before the drain. */
export function entriesBefore(targets: readonly JournalTarget[]): EntryBefore[] {
  return targets.flatMap(({ loadBalancer, target, prior, untouched }) => (untouched ? [] : [{ loadBalancer, target, prior }]))
}

function describe({ name, namespace }: Stranded['pod']): Command {
  return { command: 'kubectl', namespace, args: ['describe', 'pod', name] }
}
