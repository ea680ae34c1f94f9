import { and } from 'xstate'
import { followInput, inspectInput, relocateInput, restoreInput, settleInput, targetsInput } from '../inputs.ts'
import { inspecting } from '../inspecting.ts'
import { podSetup } from '../setup.ts'
import { BUG } from '../writing.ts'

/** Nothing is settled by what nobody could find out in time. */
const UNKNOWN_IN_TIME = {
  target: '#pod.needsOperator',
  actions: { type: 'overrule', params: { outcome: 'needsOperator', reason: 'inDoubt', deadline: 'restore' } },
} as const

/** The calls run or are being resolved, until the targets read as they were before. */
const restoring = podSetup.createStateConfig({
  entry: 'begin',
  initial: 'calling',
  after: { restoreDeadline: { actions: 'expireRestore' } },
  states: {
    calling: {
      invoke: {
        id: 'restore',
        src: 'effect',
        input: restoreInput,
        onDone: { target: 'called', actions: 'takeAnswer' },
        onError: BUG,
      },
    },
    called: {
      always: [
        {
          guard: 'isRefused',
          target: '#pod.needsOperator',
          actions: { type: 'overrule', params: { outcome: 'needsOperator', reason: 'restoreRefused' } },
        },
        { guard: 'isApplied', target: 'comparing' },
        // Not done, or not known: what differs then is no sign that it came back as something else.
        { target: 'doubting' },
      ],
    },
    doubting: { entry: 'forgetTries', after: { retry: 'comparing' } },
    comparing: {
      invoke: {
        id: 'compare',
        src: 'compare',
        input: targetsInput,
        onDone: { target: 'compared', actions: 'takeAnswer' },
        onError: BUG,
      },
    },
    compared: {
      always: [
        // Found by simulation: it put back the next pod there, in the middle of its upgrade.
        { guard: and(['isEqual', 'hasLateCall']), target: 'waitingOut' },
        { guard: 'isEqual', target: '#pod.settling.closing' },
        {
          guard: 'isTooDifferent',
          target: '#pod.needsOperator',
          actions: { type: 'overrule', params: { outcome: 'needsOperator', reason: 'restoredDifferently' } },
        },
        {
          guard: 'isExpired',
          target: '#pod.needsOperator',
          actions: { type: 'overrule', params: { outcome: 'needsOperator', reason: 'restoreNotConfirmed', deadline: 'restore' } },
        },
        { target: 'pausing' },
      ],
    },
    waitingOut: { after: { lateArrival: { target: 'comparing', actions: 'forgetLateCall' } } },
    // Unknown stays unknown and is read again; what was seen to differ is restored again.
    pausing: {
      after: {
        retry: [
          { guard: 'isUnknown', target: 'comparing' },
          { guard: 'heirIsReady', target: 'calling' },
          { target: '#pod.settling.reading' },
        ],
      },
    },
  },
})

/**
 * The pod was deleted, replaced or moved: its targets are settled, from the journal or the ledger. What was drained is
 * put back only for a ready pod of the same controller at the same address, and is otherwise reported by name.
 */
export const settling = podSetup.createStateConfig({
  entry: ['begin', 'forgetTraffic'],
  initial: 'choosing',
  // As long as it may wait for what comes in its place, and for the restore. Looked at only where nothing else is known.
  after: { settleDeadline: { actions: 'expireRestore' } },
  states: {
    choosing: {
      always: [{ guard: 'isEnding', target: 'reading' }, { guard: 'isMoved', target: 'relocating' }, { target: '#pod.deriving' }],
    },

    // Same pod, new address: the load balancers may have followed it.
    relocating: {
      invoke: {
        id: 'relocate',
        src: 'relocate',
        input: relocateInput,
        onDone: { target: 'relocated', actions: 'takeAddress' },
        onError: BUG,
      },
    },
    relocated: {
      always: [
        { guard: 'isSame', target: '#pod.deriving', actions: 'reopen' },
        { guard: 'isElsewhere', target: 'missing' },
        { target: 'relocatingAgain' },
      ],
    },
    // Its entries are where it was, or an operator has removed them: then there is nothing to put back. What he has made
    // in their place is drained as any other, unless the pod is patched already.
    missing: {
      invoke: {
        id: 'inspect',
        src: 'inspect',
        input: inspectInput,
        onDone: { target: 'missed', actions: 'takeReading' },
        onError: BUG,
      },
    },
    missed: {
      always: [
        { guard: and(['isRemoved', 'hasPatched']), target: '#pod.deriving', actions: ['dropTargets', 'reopen'] },
        { guard: 'isRemoved', target: '#pod.readmitting', actions: 'dropTargets' },
        { guard: 'isHidden', target: 'abandoning' },
        { guard: 'isUnread', target: 'relocatingAgain' },
        { target: 'abandoning' },
      ],
    },
    relocatingAgain: { always: { guard: 'isExpired', ...UNKNOWN_IN_TIME }, after: { retry: 'choosing' } },

    reading: inspecting(),
    judging: {
      always: [
        // In no load balancer, or an operator has it out: nothing was drained for it.
        { guard: 'hasNoTouchedTargets', target: 'closing' },
        {
          guard: 'isHidden',
          target: '#pod.needsOperator',
          actions: { type: 'overrule', params: { outcome: 'needsOperator', reason: 'inDoubt' } },
        },
        { guard: and(['isUnread', 'isExpired']), ...UNKNOWN_IN_TIME },
        { guard: 'isUnread', target: 'waiting' },
        { guard: 'isRemoved', target: 'closing' },
        // Found by simulation: a drain that nobody had answered came after the settlement, and nobody was there to see it.
        { guard: and(['isIn', 'mayStillChange']), target: 'waitingOut' },
        // Found by simulation: it was drained a moment before.
        { guard: and(['isIn', 'mayBeOld']), target: 'waiting' },
        // Never drained, or put back before the pod went.
        { guard: 'isIn', target: 'closing' },
        { target: 'awaiting' },
      ],
    },
    waiting: { after: { retry: 'reading' } },
    waitingOut: { after: { lateArrival: { target: 'reading', actions: 'forgetLateCall' } } },

    // Waits for what comes in its place.
    awaiting: {
      always: [
        // Found by simulation: what an earlier run has drained for the heir itself was put back before its upgrade was done.
        { guard: 'heirIsDrained', target: 'closing' },
        { guard: and(['heirIsReady', 'mayStillChange']), target: 'waitingOut' },
        { guard: 'heirIsReady', target: 'intending' },
        { guard: 'heirIsElsewhere', target: 'following' },
        { guard: 'noHeirComes', target: 'leaving' },
      ],
      after: { readyDeadline: 'overdue' },
    },
    // Another address: an operator may have pointed the entries there, which then mean this pod.
    following: {
      invoke: {
        id: 'relocate',
        src: 'relocate',
        input: followInput,
        onDone: { target: 'asked', actions: 'takeAddress' },
        onError: BUG,
      },
    },
    asked: {
      always: [
        { guard: 'isSame', target: 'reading', actions: 'takeFollowed' },
        { guard: 'isElsewhere', target: 'abandoning', actions: 'noteHeir' },
        { guard: 'isExpired', target: 'overdue' },
        { target: 'followingAgain' },
      ],
    },
    followingAgain: { after: { retry: 'awaiting' } },
    intending: {
      invoke: {
        id: 'settle',
        src: 'settle',
        input: settleInput('restore'),
        onDone: { target: 'intended', actions: 'takeAnswer' },
        onError: BUG,
      },
    },
    intended: { always: [{ guard: 'isStored', target: 'restoring' }, { target: 'intendingAgain' }] },
    intendingAgain: { after: { retry: 'awaiting' } },
    restoring,

    closing: {
      invoke: {
        id: 'settle',
        src: 'settle',
        input: settleInput('closed'),
        onDone: { target: 'closed', actions: 'takeAnswer' },
        onError: BUG,
      },
    },
    closed: {
      always: [
        // An evicted pod is still there, and its journal with it: the next owner would settle it anew.
        {
          guard: and(['isStored', 'keepsJournal']),
          target: '#pod.closing',
          actions: [{ type: 'overrule', params: { outcome: 'settled', reason: 'settled' } }, 'forgetLateCall'],
        },
        {
          guard: 'isStored',
          target: '#pod.done',
          actions: { type: 'overrule', params: { outcome: 'settled', reason: 'settled' } },
        },
        { target: 'closingAgain' },
      ],
    },
    closingAgain: { after: { retry: 'closing' } },

    // Scaled down, or nothing that would replace it: the entry stays out, and there is nothing to put back.
    leaving: {
      invoke: {
        id: 'settle',
        src: 'settle',
        input: settleInput('closed'),
        onDone: { target: 'left', actions: 'takeAnswer' },
        onError: BUG,
      },
    },
    left: {
      always: [
        {
          guard: and(['isStored', 'keepsJournal']),
          target: '#pod.closing',
          actions: [{ type: 'overrule', params: { outcome: 'settled', reason: 'left' } }, 'forgetLateCall'],
        },
        { guard: 'isStored', target: '#pod.done', actions: { type: 'overrule', params: { outcome: 'settled', reason: 'left' } } },
        { target: 'leavingAgain' },
      ],
    },
    leavingAgain: { after: { retry: 'leaving' } },

    // The target is nobody's: left out, and named for a person.
    abandoning: {
      invoke: {
        id: 'settle',
        src: 'settle',
        input: settleInput('abandoned'),
        onDone: { target: 'abandoned', actions: 'takeAnswer' },
        onError: BUG,
      },
    },
    abandoned: {
      always: [
        {
          guard: 'isStored',
          target: '#pod.needsOperator',
          actions: { type: 'overrule', params: { outcome: 'needsOperator', reason: 'abandoned' } },
        },
        { target: 'abandoningAgain' },
      ],
    },
    abandoningAgain: { after: { retry: 'abandoning' } },
    overdue: {
      always: {
        target: '#pod.needsOperator',
        actions: { type: 'overrule', params: { outcome: 'needsOperator', reason: 'heirLate', deadline: 'ready' } },
      },
    },
  },
})
