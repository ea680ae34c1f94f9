import type { BaselineContainer, JournalTarget, PodView } from '../pods/glossary.ts'

export interface Stranded {
  pod: Pick<PodView, 'name' | 'namespace'>
  /** It does not exist any more. */
  gone: boolean
  /** It is there, and its containers have ended for good: evicted by its kubelet, say. */
  finished?: boolean
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
export function needsOperatorInstructions(stranded: Stranded): string {
  const { pod, gone, finished, movedTo } = stranded
  const entries = entriesOf(isPartSaid(stranded) ? { ...stranded, targets: unsaidOf(stranded.targets) } : stranded)
  return [
    ...(entries.length === 0 ? [] : ['Look at these entries; before the drain they were as given:', ...entries]),
    ...(gone ? [] : ['Look at the pod:', `  ${describe(pod)}`]),
    gone || finished
      ? 'Point the entries at the pod in its place, and leave them drained, or remove them; then run the same command again. Once a ready pod of the same controller is at the address of an entry, that is put back. One that runs a bad image is never ready: upgrade to a good one, which the template gets at once, delete that pod, and run the same command again.'
      : movedTo !== undefined
        ? `Point the entries at its address now (${movedTo}), and leave them drained, or remove them; then run the same command again.`
        : 'Once the cause is gone, run the same command again: it reads what is there, and goes on. An entry that was put back by hand is left so.',
    ...resolveInstructions(stranded),
  ].join('\n')
}

/** For what no run can know: a person looks, and says. */
function resolveInstructions(stranded: Stranded): string[] {
  const { pod, gone, finished, movedTo, targets } = stranded
  // Found by reading: of a pod that had come to another address it was asked whether it was out, which is not taken of such a one. By a
  // breaker: what had come in the place of one that was gone, under its name, was half done, and was spoken of too.
  if (gone || finished || movedTo !== undefined)
    return [
      'Or, once each entry is as it should be, whether put back, removed or left out for good:',
      resolveCommand(pod, `${gone ? '--gone ' : ''}--traffic in`),
    ]
  if (isPartSaid(stranded)) return restInstructions(pod, unsaidOf(targets))
  return [
    // Found by simulation: who looked at once said truly that it was out, and then a restore arrived that nobody had answered.
    'Where no run can know it: look yourself, half a minute from now, since a call that nobody answered may still arrive; say what you have seen, and then run the same command again:',
    resolveCommand(pod, '--traffic out   # it gets no requests: the run goes on from there'),
    resolveCommand(pod, '--traffic in    # it is in rotation as it was: nothing is left to do for it'),
  ]
}

/**
 * Of a pod that is in rotation in some of its load balancers, as a person has said: that it is out of the others is not taken then.
 * Found by a breaker: both were asked of it anew, in all of them.
 */
export function restInstructions(pod: Stranded['pod'], rest: readonly JournalTarget[]): string[] {
  return [
    'Where no run can know it: look yourself, half a minute from now, since a call that nobody answered may still arrive; put back what is out of rotation still, say that it is in, and then run the same command again:',
    resolveCommand(pod, `${loadBalancerFlags(rest)} --traffic in`),
  ]
}

/** A line of its own, to be copied. */
export function resolveCommand({ name, namespace }: Stranded['pod'], flags: string): string {
  return `  sluice resolve pod/${name} -n ${namespace} ${flags}`
}

export function loadBalancerFlags(targets: readonly JournalTarget[]): string {
  return [...new Set(targets.map(({ loadBalancer }) => `--load-balancer ${loadBalancer}`))].join(' ')
}

/** The same for a pod that failed and stays out of rotation. */
export function failedInstructions(stranded: Stranded): string {
  return [
    'It stays out of rotation:',
    ...entriesOf(stranded),
    'See why:',
    `  ${describe(stranded.pod)}`,
    `An upgrade to images that work (before this one: ${stranded.former.map(({ name, image }) => `${name}=${image}`).join(' ')}) takes it from there, and puts it back as it was.`,
  ].join('\n')
}

/** Of one that takes requests again, on its former images. */
export function rolledBackInstructions(pod: Stranded['pod']): string {
  return ['See why it failed:', `  ${describe(pod)}`].join('\n')
}

/** On its way back, and there. */
function isPartSaid({ gone, finished, movedTo, targets }: Stranded): boolean {
  return !gone && !finished && movedTo === undefined && targets.some(({ said }) => said === 'in')
}

/** Of these a person has not said that the pod is in rotation. */
export function unsaidOf(targets: readonly JournalTarget[]): JournalTarget[] {
  return targets.filter(({ said, untouched }) => said !== 'in' && !untouched)
}

/** A line for each, with what it was before the drain. */
export function entriesOf({ targets }: Pick<Stranded, 'targets'>): string[] {
  return targets
    .filter(({ untouched }) => !untouched)
    .map(({ loadBalancer, target, prior }) => `  ${loadBalancer}: ${target}, was ${JSON.stringify(prior)}`)
}

function describe({ name, namespace }: Stranded['pod']): string {
  return `kubectl -n ${namespace} describe pod ${name}`
}
