import { assign, raise, setup } from 'xstate'
import {
  acceptPulls,
  acceptQuiet,
  awaitsEvents,
  awaitsQuiet,
  observeRestart,
  restartProof,
  sameContainers,
} from '../../src/pods/witness.ts'
import { isOpen, openJournal } from '../../src/pods/open-journal.ts'
import { hasOtherContainers } from '../../src/pods/other-containers.ts'
import { isSpecObserved } from '../../src/pods/observed-spec.ts'
import type { TrafficReading } from '../../src/pods/glossary.ts'
import type { Reason } from '../../src/reasons/reason.ts'
import type { Deadline, Observation, Outcome, PodContext, PodEvent, PodTag, PodUpgradeInput } from './context.ts'
import {
  asksForOthers,
  beginRestartOf,
  differsFromRequest,
  followed,
  formerImages,
  hasLanded,
  hasNoTouchedTargets,
  isFenced,
  isFit,
  isEnding,
  isHeirDrained,
  isHeirRestless,
  isMoved,
  isOutdated,
  isPatchedElsewhere,
  isReady,
  isRestless,
  isRecorded,
  isRewritten,
  isRollbackStored,
  isUsurped,
  isVanished,
  isWayBack,
  lostRecord,
  nextRecord,
  openRecord,
  patchedImages,
  readmission,
  reopened,
  restartTroubleOf,
  rollbackRecord,
} from './facts.ts'
import { missingPorts, portActors } from './ports.ts'
import type { PullsAnswer, RelocateAnswer, SnapshotAnswer } from './ports.ts'
import type { EndingReason } from './reasons.ts'
import { reasons } from './reasons.ts'

/** The number of rejections after which a write, with guards made anew each time, counts as rejected for good. */
const MOST_REJECTIONS = 5
/** The number of restores that read back as neither the prior state nor drained, after which the pod is left to an operator. */
const MOST_DIFFERENCES = 3

/** The context at the beginning of a state. */
const UNTRIED = { tries: 0, trouble: undefined, answer: undefined, inDoubt: false }

export interface Ending {
  outcome: Outcome
  reason: EndingReason
  deadline?: Deadline
}

function taken(
  { pod, stored }: Observation,
  { lastRead, restart }: PodContext,
): Pick<PodContext, 'pod' | 'stored' | 'lastRead' | 'restart'> {
  return {
    pod,
    stored,
    lastRead: stored.kind === 'read' ? openJournal(stored) : lastRead,
    restart: restart && observeRestart(restart, pod),
  }
}

function ending({ outcome, reason, deadline }: Ending, context: PodContext): Partial<PodContext> {
  // The return to the former images has a restart deadline of its own.
  const isRollback = deadline === 'restart' && isWayBack(context)
  return { outcome, reason: reasons[reason](context), deadline: isRollback ? 'rollback' : deadline }
}

/** The answer of a finished port call. */
function outputOf(event: PodEvent): Output {
  return (event as unknown as { output: Output }).output
}

interface Output {
  kind?: string
  reason?: Reason
  seen?: Observation
  lateCall?: true
  drained?: true
}

const answers =
  (kind: string) =>
  ({ context }: { context: PodContext }) =>
    context.answer === kind

/** The vocabulary of the pod upgrade machine: its ports, guards and actions. The states use these names alone. */
export const podSetup = setup({
  types: {} as { context: PodContext; events: PodEvent; input: PodUpgradeInput; tags: PodTag },
  actors: portActors(missingPorts),
  // The engine supplies the delays from the run's settings.
  delays: {
    retry: 0,
    poll: 0,
    settle: 0,
    lateArrival: 0,
    quiet: 0,
    readyFor: 0,
    drainDeadline: 0,
    restartDeadline: 0,
    readyDeadline: 0,
    restoreDeadline: 0,
    settleDeadline: 0,
  },
  guards: {
    // Guards on the record.
    isUnreadable: ({ context }) => context.stored.kind === 'unreadable',
    isUsurped: ({ context }) => isUsurped(context),
    isRecorded: ({ context }) => isRecorded(context),
    hasLanded: ({ context }) => hasLanded(context),
    hasNoRecord: ({ context }) => context.record === undefined,
    hasNothingOpen: ({ context }) => !isOpen(context.stored),
    hasDrainRecord: ({ context }) => context.record?.step === 'drain',
    isUndrained: ({ context }) => context.record?.undrained !== undefined,
    isOutdated: ({ context }) => isOutdated(context),
    // The drain intent is that of an earlier owner, and this run has no place for the pod.
    lacksPlace: ({ context }) => context.record?.step === 'drain' && !context.admitted,
    hasRestoreRecord: ({ context }) => context.record?.step === 'restore',
    hasNoTouchedTargets: ({ context }) => hasNoTouchedTargets(context),
    keepsPatch: ({ context }) => context.keepsPatch,
    hasPatched: ({ context }) => context.record?.generation !== undefined,
    isFenced: ({ context }) => isFenced(context),
    isInDoubt: ({ context }) => context.inDoubt,
    hasLostRecord: ({ context }) => lostRecord(context) !== undefined,
    isRollbackStored: ({ context }) => isRollbackStored(context),
    hasFormerImages: ({ context }) => formerImages(context) !== undefined,
    isRollingBack: ({ context }) => context.record?.rollback !== undefined,
    isPatchedElsewhere: ({ context }) => isPatchedElsewhere(context),
    isPatchStored: ({ context }) => context.stored.kind === 'read' && context.stored.journal.step === 'patched',
    isRestoreStored: ({ context }) => openJournal(context.stored)?.step === 'restore',
    // The stored record names a patch, or the restore after one.
    isKnownPatched: ({ context }) => openJournal(context.stored)?.generation !== undefined,
    // Guards on the pod.
    isGone: ({ context }) => context.gone,
    isEnding: ({ context }) => isEnding(context),
    isSettled: ({ context }) => context.settled === true && isEnding(context),
    isMoved: ({ context }) => isMoved(context),
    isVanished: ({ context }) => isVanished(context),
    asksForOthers: ({ context }) => asksForOthers(context),
    differsFromRequest: ({ context }) => differsFromRequest(context),
    isRewritten: ({ context }) => isRewritten(context),
    isProven: ({ context }) => context.restart !== undefined && restartProof(context.restart) !== undefined,
    /** The containers are replaced. The proof lacks only time, or an Event of the kubelet. */
    awaitsQuiet: ({ context: { restart, pod } }) => restart !== undefined && awaitsQuiet(restart, pod),
    awaitsEvents: ({ context: { restart, pod } }) => restart !== undefined && awaitsEvents(restart, pod),
    // During a rollback the trouble may be that of the failed image, until the kubelet has tried the former one.
    isHopeless: ({ context }) => context.record?.rollback === undefined && (restartTroubleOf(context)?.hopeless ?? false),
    isReady: ({ context }) => isReady(context),
    isNotReady: ({ context }) => !isReady(context),
    isPodReady: ({ context }) => context.pod.ready,
    isSpecObserved: ({ context }) => isSpecObserved(context.pod),
    isRestless: ({ context }) => isRestless(context),
    isFit: ({ context }) => isFit(context),
    hasMovedContainers: ({ context, event }) =>
      event.type === 'observed' &&
      context.restart !== undefined &&
      !sameContainers(context.restart, observeRestart(context.restart, event.pod)),
    hasOtherContainers: ({ context, event }) => event.type === 'observed' && hasOtherContainers(context.pod, event.pod),
    heirIsRestless: ({ context }) => isHeirRestless(context),
    hasOtherHeir: ({ context: { heir }, event }) =>
      event.type === 'heir' && heir != null && event.heir != null && hasOtherContainers(heir.pod, event.heir.pod),
    heirIsReady: ({ context }) => context.heir?.sameAddress === true && context.heir.isReady,
    heirIsDrained: ({ context }) => isHeirDrained(context),
    heirIsElsewhere: ({ context }) => context.heir?.sameAddress === false,
    hasEnded: ({ context }) => context.gone || (context.pod.finished && !context.pod.deleting),
    noHeirComes: ({ context }) => context.heir === null && !context.heirExpected,
    // Guards on the traffic.
    isOut: ({ context }) => context.traffic?.state === 'out',
    isIn: ({ context }) => context.traffic?.state === 'in',
    isRemoved: ({ context }) => context.traffic?.removed ?? false,
    isUnread: ({ context }) => context.traffic === undefined || context.traffic.state === 'unknown',
    isHidden: ({ context }) => context.traffic?.hidden ?? false,
    mayBeOld: ({ context }) => context.traffic?.old ?? false,
    /** A patched pod that is not ready never counts as reclaimed. It fails its requests, and only other images can repair it. */
    isReclaimed: ({ context }) =>
      context.traffic?.reclaimed !== undefined && (context.pod.ready || openJournal(context.stored)?.generation === undefined),
    // An `inFlight` of null cannot be known. The settle time is the only wait then.
    isEmpty: ({ context: { traffic } }) => traffic?.state === 'out' && (traffic.inFlight ?? 0) === 0 && !traffic.emptying,
    isPassedOver: ({ context }) => context.passedOver,
    hasReturned: ({ context }) => context.returned,
    // Guards on the run.
    isRehearsed: ({ context }) => context.rehearsed,
    isInterrupted: ({ context }) => context.interrupted,
    isExpired: ({ context }) => context.expired !== undefined,
    isRestartExpired: ({ context }) => context.expired === 'restart',
    keepsJournal: ({ context }) => !context.gone && context.pod.finished && !context.pod.deleting && isOpen(context.stored),
    isDecided: ({ context }) => context.outcome !== undefined,
    isRejectedForGood: ({ context }) => context.tries >= MOST_REJECTIONS,
    isOverdue: ({ context }) => context.expired !== undefined && context.tries >= MOST_REJECTIONS,
    isTooDifferent: ({ context }) => context.tries >= MOST_DIFFERENCES,
    hasLateCall: ({ context }) => context.lateCall,
    mayStillChange: ({ context }) => context.lateCall || context.traffic?.pending === true,
    /** The engine supplies whether a drain deadline may be passed over. */
    mayProceed: () => false,
    /** The engine supplies whether a failed pod goes back to its former images. */
    rollsBack: () => false,
    // Guards on the last answer of a port.
    isAbsent: answers('absent'),
    isAccepted: answers('accepted'),
    isRefused: answers('refused'),
    isStored: answers('stored'),
    isApplied: answers('applied'),
    isUnknown: answers('unknown'),
    isEqual: answers('equal'),
    isDifferent: answers('different'),
    isSame: answers('same'),
    isElsewhere: answers('elsewhere'),
  },
  actions: {
    observe: assign(({ context, event }) => (event.type === 'observed' ? taken(event, context) : {})),
    tellMoved: raise({ type: 'moved' }),
    takeEndpoints: assign(({ event }) => (event.type === 'endpoints' ? { endpoints: event.endpoints } : {})),
    takeHeir: assign(({ event }) => (event.type === 'heir' ? { heir: event.heir, heirExpected: event.expected } : {})),
    markGone: assign({ gone: true }),
    markInterrupted: assign({ interrupted: true }),

    begin: assign({ ...UNTRIED, expired: undefined }),
    /** Begins a state, and keeps an expired ready deadline: a drain in between does not restart the time to be ready. */
    beginAgain: assign({ ...UNTRIED, expired: ({ context }) => (context.expired === 'ready' ? 'ready' : undefined) }),
    takePlace: assign({ admitted: true }),
    losePlace: assign({ admitted: false }),
    forgetTraffic: assign({ traffic: undefined }),
    forgetTries: assign({ tries: 0 }),
    forgetLateCall: assign({ lateCall: false }),
    /** Forgets the closed record, and with it the outcome that its upgrade was to have. */
    forgetRecord: assign({ record: undefined, outcome: undefined, reason: undefined, deadline: undefined }),
    beginRestart: assign({ restart: ({ context }) => beginRestartOf(context) }),
    acceptQuiet: assign({ restart: ({ context }) => context.restart && acceptQuiet(context.restart, context.pod) }),
    takePulls: assign(({ context: { restart, pod }, event }) => {
      const answer = outputOf(event) as PullsAnswer
      return answer.kind === 'read' && restart ? { restart: acceptPulls(restart, pod, answer.pulls) } : {}
    }),
    expireDrain: assign({ expired: 'drain' }),
    expireRestart: assign({ expired: 'restart' }),
    passOver: assign({ passedOver: true }),
    countAnew: assign({ passedOver: false }),
    noteReturn: assign({ returned: true }),
    forgetReturn: assign({ returned: false }),
    noteDoubt: assign({ inDoubt: true }),
    forgetDoubt: assign({ inDoubt: false }),
    expireReady: assign({ expired: 'ready' }),
    expireRestore: assign({ expired: 'restore' }),

    recordClaim: assign({ record: ({ context }) => openRecord(context) }),
    recordDrain: assign({ record: ({ context }) => nextRecord(context, 'drain') }),
    recordPatched: assign({ record: ({ context }) => nextRecord(context, 'patched') }),
    recordRollback: assign({ record: ({ context }) => rollbackRecord(context) }),
    recordRestore: assign({ record: ({ context }) => nextRecord(context, 'restore') }),
    recordReadmission: assign({ record: ({ context }) => readmission(context) }),
    recordClosed: assign({ record: ({ context }) => nextRecord(context, 'closed') }),
    /** Drops a record that was not stored. The pod is no nearer to its end, and must get no request. */
    dropDraft: assign({ record: ({ context }) => reopened(context) }),
    /** Goes on from the stored record, with the targets under their present ids. The outcome is open again. */
    reopen: assign(({ context }) => ({
      record: reopened(context),
      outcome: undefined,
      reason: undefined,
      deadline: undefined,
    })),
    /** Makes the patched images of the pod the wanted images, in place of an earlier rollback. */
    keepPatch: assign(({ context }) => ({
      keepsPatch: true,
      wanted: patchedImages(context.pod, context.record),
      record: reopened({ ...context, keepsPatch: true }),
    })),

    takeAnswer: assign(({ context, event }) => {
      const { kind, reason, seen, lateCall = context.lateCall, drained } = outputOf(event)
      // A target that still reads as drained has not come back yet, and is no difference.
      const isFailed = kind === 'rejected' || (kind === 'different' && !drained)
      return {
        answer: kind,
        trouble: reason ?? context.trouble,
        tries: context.tries + (isFailed ? 1 : 0),
        gone: context.gone || kind === 'gone',
        lateCall,
        ...(seen ? taken(seen, context) : {}),
      }
    }),
    /** Counts a failed try after the deadline. A rejection is counted by `takeAnswer`. */
    countLateTry: assign({
      tries: ({ context: { tries, expired, answer } }) => tries + (expired !== undefined && answer !== 'rejected' ? 1 : 0),
    }),
    takeReading: assign(({ event }) => ({ traffic: (event as unknown as { output: TrafficReading }).output, answer: 'read' })),
    takeSnapshot: assign(({ context, event }) => {
      const output = outputOf(event) as SnapshotAnswer
      if (output.kind !== 'taken') return { answer: output.kind, trouble: output.reason }
      const { kind, address, targets, undrained } = output
      const found = { targets, ...(undrained && { undrained }) }
      return { answer: kind, trouble: undefined, address, record: nextRecord({ ...context, record: undefined }, 'drain', found) }
    }),
    takeAddress: assign(({ context, event }) => {
      const output = outputOf(event) as RelocateAnswer
      if (output.kind !== 'same') return { answer: output.kind, trouble: output.reason }
      const { address, targets } = output
      return { answer: output.kind, trouble: undefined, address, record: context.record && followed(context.record, targets) }
    }),
    dropTargets: assign({ record: ({ context: { record } }) => record && followed(record, []) }),
    /**
     * Takes the replacement at its address. Another pod may have replaced it during the call. The place becomes the replacement's, with all
     * its addresses, so that a dual-stack pod does not read as elsewhere at the next event.
     */
    takeFollowed: assign(({ context: { heir, address, pod } }) => {
      if (heir === undefined || heir === null) return {}
      if (heir.pod.ip !== address) return { heir: { ...heir, sameAddress: false } }
      return { heir: { ...heir, sameAddress: true }, pod: { ...pod, otherIps: heir.pod.otherIps ?? [] } }
    }),
    noteHeir: assign({
      trouble: ({ context: { heir, trouble } }) => ({
        code: 'replacement-came' as const,
        replacement: heir?.pod.name ?? '',
        ...(trouble && { because: trouble }),
      }),
    }),

    /**
     * Ends the upgrade, or decides on its outcome. An earlier outcome stays, such as that of a refusal before a re-admission. The exception
     * is a rollback that fails, which is a failure.
     */
    end: assign(({ context }, params: Ending) =>
      context.outcome === undefined || (context.outcome === 'rolledBack' && params.outcome === 'failed')
        ? ending(params, context)
        : {},
    ),
    /** Sets the outcome, and replaces an earlier one. */
    overrule: assign(({ context }, params: Ending) => ending(params, context)),
    /** Sets the outcome of a pod whose record shows a rollback: the pod failed before, and is on its way back. */
    noteRollback: assign(({ context }, params: Ending) =>
      context.record?.rollback !== undefined && context.outcome === undefined ? ending(params, context) : {},
    ),
    endLost: assign(({ event }) =>
      event.type === 'lost' ? { outcome: 'conflict' as const, reason: event.reason, deadline: undefined } : {},
    ),
    endBug: assign(({ context, event }) => {
      const trouble = { code: 'error', said: String((event as unknown as { error?: unknown }).error) } as const
      return ending({ outcome: 'needsOperator', reason: 'bug' }, { ...context, trouble })
    }),
  },
})
