import type { PodContext } from './context.ts'
import type { JournalTarget } from '../../src/pods/glossary.ts'
import { isOpen } from '../../src/pods/open-journal.ts'
import { silentNode } from '../../src/pods/readiness.ts'
import { hasNoTouchedTargets, isHeirDrained, notReadyReason, restartTroubleOf } from './facts.ts'

/* Why a pod ended as it did, in words for a person. */

const because = ({ trouble }: PodContext): string => (trouble === undefined ? '' : `: ${trouble}`)
const unread = ({ traffic }: PodContext): string => (traffic?.state === 'unknown' && !traffic.hidden ? `: ${traffic.detail}` : '')
const namesOf = (targets: readonly JournalTarget[]): string =>
  targets
    .filter(({ untouched }) => !untouched)
    .map(({ loadBalancer, target }) => `${loadBalancer}/${target}`)
    .join(', ')
const targetsOf = ({ record }: PodContext): string => namesOf(record?.targets ?? [])
/** Found by a breaker: a person had said of one that it is in, and was asked about that too. */
const unknownOf = ({ record }: PodContext): string => namesOf((record?.targets ?? []).filter(({ said }) => said !== 'in'))

const storedImages = ({ pod }: PodContext): string => pod.containers.map(({ name, image }) => `${name}=${image}`).join(', ')

/** For what comes over a pod that was being rolled back: why it was stays said. */
const relapse = ({ reason, record }: PodContext): string =>
  record?.rollback === undefined ? '' : `${reason}; and back on its former images: `

/** Harmless: the next run finds it so. But whoever looks at the pod sees a journal that is open. */
const unclosed = (c: PodContext): string =>
  isOpen(c.stored) ? `; its journal could not be closed, which the next run does${because(c)}` : ''

function settledHow(c: PodContext): string {
  if (c.traffic?.removed) return 'gone, and its entry was removed from the load balancer'
  if (!c.heir || hasNoTouchedTargets(c)) return 'gone, and its targets are as they were before'
  const { pod, sameAddress } = c.heir
  // Found by trial: somebody had put the entry back at an address where no pod was any more.
  if (!sameAddress)
    return `replaced by ${pod.name} at another address (${pod.ip ?? 'none yet'}), and its entry is in rotation as it was: ${targetsOf(c)}`
  return isHeirDrained(c)
    ? `replaced by ${pod.name}, which is drained by a record of its own`
    : `replaced by ${pod.name}, which is back in rotation in its place`
}

/** The next run finds its entry open, and settles it anew. */
const unentered = (c: PodContext): string =>
  c.answer === 'stored' ? '' : `; the ledger could not be told so, which the next run does${because(c)}`

/** Where the API server gives generations, an old one says that the kubelet has not even seen the patch. */
function unreplaced({ restart, pod }: PodContext): string {
  const silent = pod.nodeIsSilent ? `; ${silentNode(pod)}` : ''
  if (restart === undefined || restart.seen) return `the container was not replaced${silent}`
  const { observedGeneration: seen, node } = pod
  return `the kubelet${node === undefined ? '' : ` of node ${node}`} has not seen the patch (generation ${restart.generation}, it reports ${seen})${silent}`
}

export const reasons = {
  bug: (c) => `a bug in sluice${because(c)}`,
  checkpoint: () => 'left where it is: the same command goes on from there',
  journalUnreadable: ({ stored }) => `its journal cannot be read: ${stored.kind === 'unreadable' ? stored.reason : ''}`,
  journalUsurped: () => 'another owner has written the journal of this pod',
  skipped: ({ wanted, pod }) => {
    if (wanted.length === 0) return 'nothing is asked of it'
    return pod.ready ? 'it runs the wanted images already' : 'it has the wanted images already, and is not ready'
  },
  notStarted: () => 'not started',
  goneBefore: () => 'the pod was deleted, or let go of by its workload, before its turn; nothing was drained for it',
  settledBefore: (c) => `gone, and its targets were settled by an earlier run or process${unclosed(c)}`,
  interrupted: () => 'interrupted before the patch',
  absent: (c) => `it cannot be drained${because(c)}`,
  notChecked: (c) => `it could not be checked in time${because(c)}`,
  rehearsalRefused: (c) => `the API server refuses the patch${because(c)}`,
  notClaimed: (c) => `the record of an earlier owner could not be taken over${because(c)}`,
  drainNotRecorded: (c) => `the drain intent could not be written${because(c)}`,
  drainRefused: (c) => `the load balancer refuses the drain${because(c)}`,
  drainNotConfirmed: (c) => `the drain could not be confirmed in time${because(c) || unread(c)}`,
  reclaimed: ({ traffic }) => `an operator had it out of rotation in part, and has put it back meanwhile: ${traffic?.reclaimed}`,
  notEmpty: ({ traffic }) => {
    const again = traffic?.state === 'in' ? 'it was drained, and reads as in rotation all the same: ' : ''
    return `not empty in time: ${again}${traffic?.detail ?? 'the load balancer could not be read'}`
  },
  backMeanwhile: ({ traffic }) => `it was put back while its images could not be patched: ${traffic?.detail}`,
  notPatched: (c) => `the images could not be patched${because(c)}`,
  rewritten: (c) =>
    `${relapse(c)}the stored images are not the ones asked for (${storedImages(c)}): an admission webhook or somebody else has rewritten them`,
  notRestarted: (c) => `${relapse(c)}no proof of the restart in time: ${restartTroubleOf(c)?.reason ?? unreplaced(c)}`,
  notOut: (c) =>
    `${relapse(c)}it was restarted, and could not be read as out in time: ${c.traffic?.detail ?? 'the load balancer could not be read'}`,
  hopeless: (c) => `the image cannot be started: ${restartTroubleOf(c)?.reason}`,
  notReady: (c) => `${relapse(c)}not ready in time: ${notReadyReason(c) ?? 'it has become ready only just now'}`,
  notRolledBack: (c) => `${relapse(c)}the images could not be patched${because(c)}`,
  rolledBackBefore: () => 'it had failed, and was on its way back to its former images',
  restoreNotRecorded: (c) => `the restore intent could not be written${because(c)}`,
  restoreRefused: (c) => `the load balancer refuses to put it back${because(c)}`,
  notFit: ({ traffic }) => `it was not ready to be put back in time, and stays out of rotation: ${traffic?.detail}`,
  restoreNotConfirmed: (c) => `the restore could not be confirmed in time${because(c) || unread(c)}`,
  patchedElsewhere: (c) =>
    `somebody has given it other images while it was out (${storedImages(c)}): ` +
    'nothing has proven what runs now, and it is not put back so',
  baselineNotReady: () => 'drained and not patched, and it did not get ready in time to be put back',
  inDoubt: (c) =>
    `${unknownOf(c)} cannot be read back, and whether the ${c.record?.step === 'restore' ? 'restore' : 'drain'} has arrived there is not known${because(c) || unread(c)}`,
  restoredDifferently: (c) => `it is back, but not as it was before${because(c)}`,
  notClosed: (c) => `it is back in rotation, but its journal could not be closed${because(c)}`,
  upgraded: (c) => {
    const targets = c.record?.targets ?? []
    if (targets.length === 0) return 'on its new images, in no load balancer'
    return targets.every(({ untouched }) => untouched)
      ? 'on its new images; an operator had it out of rotation, and it is left as it stands'
      : 'back in rotation on its new images'
  },
  readmitted: () => 'back in rotation on its old images',
  keptPatch: () => 'back in rotation on the images that an earlier run has given it',
  settled: (c) => `${settledHow(c)}${unentered(c)}`,
  left: (c) => `gone for good; ${targetsOf(c)} stays out of rotation${unentered(c)}`,
  heirLate: (c) =>
    `${targetsOf(c)} was drained for ${c.pod.name}, and no ready pod of the same controller has come to its address in time`,
  abandoned: (c) => `${targetsOf(c)} was drained for ${c.pod.name} and is never put back by guess${because(c)}`,
} satisfies Record<string, (context: PodContext) => string>

export type Reason = keyof typeof reasons
