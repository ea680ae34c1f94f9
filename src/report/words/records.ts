import type { RecordReasons } from '../../reasons/record-reasons.ts'
import { imageWords } from './images.ts'
import { agreeing, entries, listed, type WordsOf } from './writing.ts'

/** The words for the statements of records about pods and runs. */
export const records: WordsOf<RecordReasons> = {
  'record-not-json': () => 'it is not JSON',
  'record-edited': () => 'somebody has edited it: it is not as sluice wrote it',
  'record-newer': ({ version, reads }) => `it is of version ${version}, written by a newer sluice; this one reads ${reads}`,
  'record-needs': ({ needs }) => `it was written by a newer sluice, and needs what this one does not know: ${needs.join(', ')}`,
  'record-invalid': ({ issues }) => issues,
  'record-part-missing': ({ part }) => `its part ${part} is missing`,
  'record-in': ({ place, problem }, write) => `in the ${place}, ${write.reason(problem)}`,

  'changes-without-drain': ({ containers, ready }) =>
    `${containers.join(' and ')} ${agreeing(containers, 'is', 'are')} changed without a drain${ready ? '' : '; not ready'}`,
  'may-be-drained': ({ entries: some }) =>
    `${some.length === 0 ? 'not patched yet' : 'drained, or about to be'}: ${listed(some)}`,
  'is-patched': ({ entries: some, ready }) =>
    `patched${some.length === 0 ? '' : ' and out of rotation'}: ${listed(some)}${ready ? '' : '; not ready'}`,
  'may-be-put-back': ({ entries: some }) => `about to be put back: ${listed(some)}`,
  'nothing-open': () => 'nothing of it is open',
  'on-way-back': ({ images: former }) => `it failed, and is on its way back to ${imageWords(former)}`,
  'gone-and-drained': ({ entries: some }) => `the pod is gone; ${listed(some)} may be drained for it`,

  'said-of-pod': ({ traffic, loadBalancers }) =>
    `a person has said that it is ${traffic === 'in' ? 'in' : 'out of'} rotation${loadBalancers.length === 0 ? '' : ` in ${loadBalancers.join(', ')}`}`,
  'said-of-entries': ({ traffic, entries: some }) =>
    `a person has said that ${entries(some)} ${agreeing(some, 'is', 'are')} ${traffic === 'out' ? 'to stay out of rotation' : agreeing(some, 'as it should be', 'as they should be')}`,
  'rest-unsaid': ({ entries: some }) => `${entries(some)} ${agreeing(some, 'is', 'are')} left`,

  'said-and-open': ({ pod, traffic }) =>
    `pod/${pod} is ${traffic === 'in' ? 'in' : 'out of'} rotation, as you say: the next run goes on from there`,
  'said-and-closed': ({ pod, patchedAndUnready }) =>
    `pod/${pod} is in rotation, as you say: its record is closed${patchedAndUnready ? '; it is patched and not ready, and no run puts it back any more' : ''}`,
  'said-of-former-pod': ({ pod, entries: some, traffic }) =>
    traffic === 'in'
      ? `${entries(some)} of a pod/${pod} that was before ${agreeing(some, 'is as it', 'are as they')} should be, as you say: no run asks for ${agreeing(some, 'it', 'them')} any more`
      : `${entries(some)} of a pod/${pod} that was before ${agreeing(some, 'stays', 'stay')} out of rotation, as you say: no run puts ${agreeing(some, 'it', 'them')} back, or asks for ${agreeing(some, 'it', 'them')} any more`,

  'not-told': () => 'no process of this run has told of it',
  'since-by-run': ({ run, outcome, because }, write) =>
    `since then, by run ${run}: ${[outcome, because === undefined ? '' : write.reason(because)].filter((part) => part !== '').join(', ')}`,
  'at-instant': ({ reason, at }, write) => `${write.reason(reason)} (${at})`,
  'end-not-told': ({ what, resolve, lostProcess }) => {
    const others = [
      ...(resolve ? ['sluice resolve'] : []),
      ...(lostProcess ? ['a process of this run that has left no account of it'] : []),
      'somebody else',
    ]
    const who = others.length > 2 ? `${others.slice(0, -1).join(', ')}, or ${others.at(-1)}` : others.join(' or ')
    return what === 'ended'
      ? `who has ended what was open of it is not told: ${who}`
      : `who has brought it to them is not told: ${who}`
  },
  'left-to-person': () => 'its entries were left out of rotation, for a person',
  'report-not-written': ({ path, said, run }) =>
    `the report could not be written to ${path}: ${said}. The run is as told here${run === undefined ? '' : `, and sluice report ${run} makes it anew`}`,
  'closed-since': () => 'closed since, by sluice resolve or by a process that has left no account of it',
  'nothing-open-at': ({ at }) => `nothing of it was open any more at ${at}`,
  'same-command-goes-on': () => 'the same command goes on from there',
  'nothing-on-record-of': ({ of, namespace, unreadable }) => {
    const what = 'run' in of ? `run ${of.run}` : `a run of ${of.workload}`
    const nothing = `nothing is on record of ${what} in namespace ${namespace}; sluice report lists what is`
    return 'run' in of || unreadable.length === 0
      ? nothing
      : `${nothing}. These cannot be read, and may be of it: ${unreadable.join(', ')}`
  },
  'at-work-or-silent': () => 'it is at work, or its process ended without a word',
  'aborted-by': ({ by }) => `aborted by ${by}`,
  'nothing-open-any-more': () => 'nothing of it is open any more',
  'since-then': ({ reason }, write) => `since then ${write.reason(reason)}`,
  'left-open-closed-at': ({ at }) => `what it had left open was closed at ${at}`,
  'too-long-for-record': ({ of }) => `${of}, of which the record has no more: it was too long`,
  'phases-joined': ({ phases }) => `${phases} phases that were not kept one by one`,
  'as-answered': () => 'as it answered; it cannot be read back',
  'read-back-as-out': ({ because }, write) => `read back as out${because === undefined ? '' : `, ${write.reason(because)}`}`,
  'read-back-as-before': ({ prior }) => `read back as it was before${prior === undefined ? '' : `: ${JSON.stringify(prior)}`}`,
}
