import type { Because, LoadBalancerEntry, NamedImage } from '../../src/reasons/fields.ts'
import type { Reason, ReasonOf } from '../../src/reasons/reason.ts'
import type { JournalTarget, ReadJournal } from '../../src/pods/glossary.ts'
import { isOpen } from '../../src/pods/open-journal.ts'
import { silentNodeOf } from '../../src/pods/readiness.ts'
import type { PodContext } from './context.ts'
import { hasNoTouchedTargets, isHeirDrained, notReadyReason, restartTroubleOf } from './facts.ts'

/* The reasons for the outcome of a pod. */

const because = ({ trouble }: PodContext): Because => (trouble === undefined ? {} : { because: trouble })
/** The trouble of the last call. Without such trouble, the reason why the entries could not be read. */
const becauseOrUnread = (c: PodContext): Because => {
  const { trouble, traffic } = c
  if (trouble !== undefined || traffic?.state !== 'unknown' || traffic.hidden) return because(c)
  return { because: traffic.detail }
}
const trafficOf = ({ traffic }: PodContext): { traffic?: Reason } => (traffic ? { traffic: traffic.detail } : {})
const entriesOf = (targets: readonly JournalTarget[]): LoadBalancerEntry[] =>
  targets.flatMap(({ loadBalancer, target, untouched }) => (untouched ? [] : [{ loadBalancer, target }]))
const ownEntries = ({ record }: PodContext): LoadBalancerEntry[] => entriesOf(record?.targets ?? [])
/** The entries in doubt. An entry that a person has called in is not in doubt. */
const doubtedEntries = ({ record }: PodContext): LoadBalancerEntry[] =>
  entriesOf((record?.targets ?? []).filter(({ said }) => said !== 'in'))

const storedImages = ({ pod }: PodContext): NamedImage[] => pod.containers.map(({ name, image }) => ({ container: name, image }))

/** The reason for the rollback, for a pod whose rollback ended with another reason. */
const after = ({ reason, record }: PodContext): { after?: Reason } =>
  record?.rollback === undefined || reason === undefined ? {} : { after: reason }

/** Present where the journal still shows as open. The next run finds the pod settled, and closes the journal. */
const unclosed = (c: PodContext): { unclosed?: Because } => (isOpen(c.stored) ? { unclosed: because(c) } : {})

/** Present where the ledger could not be written. The next run finds the entry of the pod open, and settles it anew. */
const untold = (c: PodContext): { untold?: Because } => (c.answer === 'stored' ? {} : { untold: because(c) })

function settled(c: PodContext): Reason {
  if (c.traffic?.removed) return { code: 'settled-by-removal', ...untold(c) }
  if (!c.heir || hasNoTouchedTargets(c)) return { code: 'settled-unchanged', ...untold(c) }
  const { pod, sameAddress } = c.heir
  const by = { replacement: pod.name, ...untold(c) }
  if (!sameAddress) {
    const address = pod.ip === undefined ? {} : { address: pod.ip }
    return { code: 'settled-elsewhere', ...by, ...address, entries: ownEntries(c) }
  }
  return { code: isHeirDrained(c) ? 'settled-by-drained-replacement' : 'settled-by-replacement', ...by }
}

/** The reason for a container that was not replaced. An old `observedGeneration` shows that the kubelet has not seen the patch. */
function unreplaced({ restart, pod }: PodContext): ReasonOf<'container-not-replaced' | 'kubelet-behind'> {
  if (restart === undefined || restart.seen) return { code: 'container-not-replaced', ...silentNodeOf(pod) }
  const { observedGeneration: observed, node } = pod
  const { generation } = restart
  return { code: 'kubelet-behind', generation, observed, ...(node === undefined ? {} : { node }), ...silentNodeOf(pod) }
}

export const reasons = {
  bug: ({ trouble }) => ({ code: 'bug', error: trouble?.code === 'error' ? trouble.said : '' }),
  checkpoint: () => ({ code: 'left-as-is' }),
  journalUnreadable: ({ stored }) => ({
    code: 'journal-unreadable',
    problem: (stored as Extract<ReadJournal, { kind: 'unreadable' }>).problem,
  }),
  journalUsurped: () => ({ code: 'journal-usurped' }),
  skipped: ({ wanted, pod }) =>
    wanted.length === 0 ? { code: 'nothing-asked' } : { code: 'runs-wanted-images', ready: pod.ready },
  notStarted: () => ({ code: 'not-started' }),
  goneBefore: () => ({ code: 'gone-before-turn' }),
  settledBefore: (c) => ({ code: 'settled-before', ...unclosed(c) }),
  interrupted: () => ({ code: 'interrupted-before-patch' }),
  absent: (c) => ({ code: 'not-drainable', ...because(c) }),
  notChecked: (c) => ({ code: 'not-checked-in-time', ...because(c) }),
  rehearsalRefused: (c) => ({ code: 'patch-refused', ...because(c) }),
  notClaimed: (c) => ({ code: 'record-not-taken-over', ...because(c) }),
  drainNotRecorded: (c) => ({ code: 'drain-intent-not-written', ...because(c) }),
  drainRefused: (c) => ({ code: 'drain-refused', ...because(c) }),
  drainNotConfirmed: (c) => ({ code: 'drain-not-confirmed', ...becauseOrUnread(c) }),
  reclaimed: ({ traffic }) => ({ code: 'reclaimed', entry: traffic!.reclaimed! }),
  notEmpty: (c) => ({ code: 'not-empty', readsAsIn: c.traffic?.state === 'in', ...trafficOf(c) }),
  backMeanwhile: (c) => ({ code: 'back-before-patch', ...trafficOf(c) }),
  notPatched: (c) => ({ code: 'images-not-patched', ...because(c) }),
  rewritten: (c) => ({ code: 'images-rewritten', images: storedImages(c), ...after(c) }),
  notRestarted: (c) => ({ code: 'restart-not-proven', because: restartTroubleOf(c)?.reason ?? unreplaced(c), ...after(c) }),
  notOut: (c) => ({ code: 'not-read-as-out', ...trafficOf(c), ...after(c) }),
  hopeless: (c) => {
    const trouble = restartTroubleOf(c)
    return { code: 'image-cannot-start', ...(trouble ? { because: trouble.reason } : {}) }
  },
  notReady: (c) => {
    const reason = notReadyReason(c)
    return { code: 'not-ready-in-time', ...(reason ? { because: reason } : {}), ...after(c) }
  },
  notRolledBack: (c) => ({ code: 'images-not-patched', ...because(c), ...after(c) }),
  rolledBackBefore: () => ({ code: 'rolling-back' }),
  restoreNotRecorded: (c) => ({ code: 'restore-intent-not-written', ...because(c) }),
  restoreRefused: (c) => ({ code: 'restore-refused', ...because(c) }),
  notFit: (c) => ({ code: 'not-fit-for-restore', ...trafficOf(c) }),
  restoreNotConfirmed: (c) => ({ code: 'restore-not-confirmed', ...becauseOrUnread(c) }),
  patchedElsewhere: (c) => ({ code: 'patched-elsewhere', images: storedImages(c) }),
  baselineNotReady: () => ({ code: 'baseline-not-ready' }),
  inDoubt: (c) => ({
    code: 'effect-in-doubt',
    entries: doubtedEntries(c),
    effect: c.record?.step === 'restore' ? 'restore' : 'drain',
    ...becauseOrUnread(c),
  }),
  restoredDifferently: (c) => ({ code: 'restored-differently', ...because(c) }),
  notClosed: (c) => ({ code: 'journal-not-closed', ...because(c) }),
  upgraded: ({ record }) => {
    const targets = record?.targets ?? []
    if (record?.undrained) return { code: 'upgraded', rotation: 'kept' }
    if (targets.length === 0) return { code: 'upgraded', rotation: 'none' }
    return { code: 'upgraded', rotation: targets.every(({ untouched }) => untouched) ? 'operator' : 'in' }
  },
  keptPatch: () => ({ code: 'kept-earlier-patch' }),
  settled,
  left: (c) => ({ code: 'left-out', entries: ownEntries(c), ...untold(c) }),
  heirLate: (c) => ({ code: 'no-replacement-in-time', pod: c.pod.name, entries: ownEntries(c) }),
  abandoned: (c) => ({ code: 'abandoned', pod: c.pod.name, entries: ownEntries(c), ...because(c) }),
} satisfies Record<string, (context: PodContext) => Reason>

export type EndingReason = keyof typeof reasons
