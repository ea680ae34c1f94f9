import type { RunReasons } from '../../reasons/run-reasons.ts'
import { wayOutOf } from './refusals.ts'
import { imageWords } from './images.ts'
import { agreeing, cause, entries, place, podNames, type WordsOf } from './writing.ts'

const ENDINGS = {
  failed: 'failed',
  rolledBack: 'failed and goes back to its former images',
  needsOperator: 'needs a person',
  overtaken: 'was taken over by another owner',
}

const GONE_FOR_GOOD =
  'if the workload is gone for good, say of each of them how it stands (sluice resolve), and sluice cleanup removes the record'

/** The words for the end and the messages of a run. */
export const run: WordsOf<RunReasons> = {
  pods: ({ pods }, write) =>
    pods
      .map(
        ({ pod, reason, failed }) => `${pod}: ${failed === undefined ? '' : `${write.reason(failed)}; `}${write.reason(reason)}`,
      )
      .join('; '),
  counts: ({ upgraded, already, left, resolved }) =>
    `${upgraded} upgraded, ${already} at the wanted images already${resolved === undefined ? '' : `, ${resolved} resolved by a person`}${left === 0 ? '' : `, ${left} left as ${left === 1 ? 'it is' : 'they are'}`}`,
  several: ({ reasons }, write) => reasons.map((one) => write.reason(one)).join('; '),
  overlooked: ({ pods }) =>
    `not settled: ${pods.map(({ pod, workload }) => (workload === undefined ? pod : `${pod} (${workload})`)).join(', ')}: gone while they waited for their turn, or not of this request. sluice status says what ` +
    `may be drained for them; the same command again goes on with those that it asks for, one that names their workload with ` +
    `all, and of a workload that is gone a person says how they stand: sluice resolve pod/NAME --traffic in`,
  'run-not-ended': ({ because }, write) =>
    `this process has not ended the run: ${write.reason(because)}; while it is open its abort stays ordered`,
  aborted: ({ by, upgraded, old, open }) => {
    const counts = `${upgraded} on their new images, ${old} left on their old ones`
    if (open === undefined) return `by ${by}; ${counts}`
    return open === 0 ? `by ${by}; no pod was open` : `by ${by}; of the open pods, ${counts}`
  },
  'plan-refused': ({ refusals: refused }, write) => {
    const wayOut = (refusal: (typeof refused)[number]): string => {
      const { hint, command } = wayOutOf(refusal)
      return command === undefined ? hint : `${hint} \`${write.command(command)}\``
    }
    return Array.from(
      Map.groupBy(refused, wayOut),
      ([way, alike]) => `${alike.map((one) => write.reason(one)).join('; ')}. ${way}`,
    ).join(' ')
  },
  'stopped-before-done': () => 'stopped before every pod was done',
  'stopped-at-once': () => 'stopped at once, with pods under way',
  'interrupted-before-start': () => 'interrupted before any pod was touched',
  'not-begun': ({ pods }) => `not begun: ${pods.join(', ')}, since a pod failed that is gone by now`,
  'not-ready-at-end': ({ pods }) => `not ready at its end: ${podNames(pods)}`,
  'stays-open': ({ runs }) => {
    const stays = runs.map(
      ({ run: id, pods }) => `${id === undefined ? 'the run' : `run ${id}`} stays open for ${pods.join(', ')}`,
    )
    return `${stays.join(', ')}: a command that names the workload goes on with all, sluice abort ends it`
  },
  'on-other-images': ({ run: id, pods }) =>
    `still on other images, of ${id === undefined ? 'the run' : `run ${id}`}: ${podNames(pods)}, which a command that names the workload brings to these`,
  paused: ({ by }) => `paused by ${by}, with nothing under way`,
  'held-after': ({ pod, ending }) => `${pod} ${ENDINGS[ending]}: no further pod is started`,
  interrupted: () => 'interrupted: no further pod is started',
  'abort-ordered': ({ by }) => `aborted by ${by}: no further pod is started`,
  'pause-ends-run': ({ by }) => `paused by ${by}: the run ends here`,
  'patched-with-requests': ({ pod, requests }) =>
    `${pod} was patched with ${requests} ${requests === 1 ? 'request' : 'requests'} under way: deadlines.drain was over, and onDrainDeadline is proceed`,
  'no-longer-selected': ({ pod }) => `${pod} is no longer selected: the run goes on with it for as long as it is its workload's`,
  'watch-lost': ({ because }, write) => `the cluster cannot be watched any more${cause(because, write)}`,
  'watch-trouble': ({ because }, write) => (because === undefined ? 'a watch was broken off' : write.reason(because)),

  'aborted-but': ({ left }, write) => `aborted, but ${left.map((one) => write.reason(one)).join('; ')}`,
  'template-not-put-back': ({ workload, because }, write) =>
    `the template${workload === undefined ? '' : ` of ${workload}`} could not be put back to its former images${cause(because, write)}`,
  'template-put-back': ({ images: former }) => `back to its former images: ${imageWords(former)}`,
  'template-kept': ({ workload, upgraded }) =>
    `the template of ${workload} keeps the new images: ${upgraded} of its pods ${agreeing(upgraded, 'runs', 'run')} them; sluice undo takes them back`,
  'template-of-another-run': ({ workload }) =>
    `the template of ${workload} was left as it is: it is not part of this run any more`,
  'made-before-put-back': ({ pods }) =>
    `${pods.join(', ')}: made from the template before that went back, and not ready on the new images: sluice undo takes ${pods.length === 1 ? 'it' : 'them'} back`,
  'revision-label-not-set': ({ because }, write) => `its revision label could not be set${cause(because, write)}`,
  'patch-of-pod-refused': ({ pod, because }, write) => `the API server refuses the patch of pod/${pod}${cause(because, write)}`,

  'ledgers-not-removed': ({ because }, write) =>
    `the oldest ledgers could not be removed${cause(because, write)}; the next run tries again`,
  'ledger-not-closed': ({ because }, write) => `the ledger could not be closed${cause(because, write)}`,
  'ledger-of-newer-sluice': ({ run: id, problem }, write) =>
    `the ledger of run ${id} (ConfigMap sluice-run-${id}) cannot be read: ${write.reason(problem)}: use that one; where nobody has it any more, sluice status says what to do`,
  'ledger-unreadable': ({ run: id, problem }, write) =>
    `the ledger of run ${id} cannot be read, and is left alone: ${write.reason(problem)}`,
  'ledgers-not-taken-over': ({ namespace, tries }) =>
    `the ledgers of earlier runs in namespace ${namespace} could not be taken over in ${tries} tries: somebody else writes to them, or the API server did not say that it had: run the same command again`,
  'record-changed': ({ run: id }) => `the record of run ${id} was changed meanwhile`,
  'run-ended-meanwhile': () => 'the run has come to its end meanwhile',
  'journal-lost': (facts, write) =>
    `${lostJournal(facts, write.reason(facts.traffic))}. It is left so; put it back by hand if nobody wants it out`,
  'left-half-done': ({ run: id, pods }) => `run ${id} is not finished, and may have left half done: ${pods.join(', ')}`,
  'left-out-for-good': ({ run: id, pods }) =>
    `run ${id} has left out of rotation what was drained for pods that are gone for good: ${pods.join(', ')}`,
  'say-how-pods-stand': ({ severalWorkloads }) =>
    severalWorkloads ? `ask for those that are there alone, which goes on with what is theirs; ${GONE_FOR_GOOD}` : GONE_FOR_GOOD,

  'lease-held': ({ lease, holder, pausedBy }) =>
    `another run has this workload: ${holder} holds the Lease ${lease} and has just renewed it${pausedBy === undefined ? '' : `; it is paused by ${pausedBy}, until sluice resume or sluice abort of the same workloads`}`,
  'lease-taken': ({ lease, holder }) => {
    if (holder === undefined) return `the Lease ${lease} was deleted`
    if (holder === '')
      return `the Lease ${lease} is nobody’s any more: another owner has given it back, or somebody has cleared it`
    return `${holder} has taken the Lease ${lease}`
  },
  'lease-not-renewed': ({ because }, write) => `the Lease could not be renewed${cause(because, write)}`,
  'lease-ran-out': () => 'the Lease could not be renewed, and has run out',
  'lease-lost': () => 'the Lease is not held any more',
  'lease-contested': ({ leases }) =>
    `another run has come while the ${agreeing(leases, 'Lease', 'Leases')} ${leases.join(', ')} ${agreeing(leases, 'was', 'were')} being made, and somebody has deleted its own; it may still be at work for a few seconds: run the same command again`,
  'lease-counted-out': ({ lease, transitions, setBack }, write) =>
    `the Lease ${lease} cannot be taken: its leaseTransitions is ${transitions}, and there is no larger number for the next owner: somebody has edited it; with no run at work, set it back: ${write.command(setBack)}`,
  'epoch-too-large': ({ lease, epoch, largest, pod }) =>
    `the journal of ${pod === undefined ? 'a pod' : `pod/${pod}`} names the epoch ${epoch}, and the Lease ${lease} cannot count beyond ${largest}: somebody has edited it; see that the pod is in rotation, remove its journal with no run at work, and run again`,
  'load-balancer-not-asked': ({ loadBalancer, because }, write) =>
    `${loadBalancer === undefined ? 'the load balancers' : `the load balancer ${loadBalancer}`} could not be asked${cause(because, write)}`,
  'effects-cannot-be-made': ({ loadBalancer, target, others, because }, write) =>
    `drain and restore of ${target} in the load balancer ${loadBalancer} cannot be made${cause(because, write)}${others === 0 ? '' : `; nor of ${others} more`}`,
  'half-done-elsewhere': ({ pod, entry }) =>
    `pod/${pod} is half done, and was not drained in ${entries([entry])}, which has come since: end its run with sluice abort, ` +
    `or take ${entries([entry])} out, and run this again`,
  'half-done-undrained': ({ pod, containers }) =>
    `pod/${pod} is half done without a drain, since drain.notFor has named ${containers.join(' and ')}, which it does not any more: ` +
    `end its run with sluice abort, or name ${containers.join(' and ')} there until the pod is done, and run this again`,
  'half-done-not-in-config': ({ pod, place: missing, resolve }, write) =>
    `pod/${pod} is half done, and its record names ${place(missing)}, which the config does not have: name it ` +
    `there as it was, and run this again; or, once it is in rotation everywhere by your own hand, ${write.command(resolve)}`,
  'gone-not-in-config': ({ pod, target, place: missing, targets, resolve }, write) =>
    `pod/${pod} is gone, and ${target} may be drained for it in ${place(missing)}, which the config does not have: name it ` +
    `there as it was, and run this again; or, once all of it in "${missing.loadBalancer}" is as it should be by your own hand, put back ` +
    `or removed (${targets.join(' and ')}), ${write.command(resolve)}`,
}

/** The words for a pod that is out of rotation and has no journal. */
export function lostJournal({ run: id }: { run: string }, traffic: string): string {
  return (
    `it has no journal, was in rotation when run ${id} began, and is not now (${traffic}): an operator has it out, or its ` +
    `journal was removed after the drain`
  )
}
