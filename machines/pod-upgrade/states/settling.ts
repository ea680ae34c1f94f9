import { and, not, or } from 'xstate'
import { comparing, NOT_AS_BEFORE } from '../comparing.ts'
import { followInput, heirRestoreInput, inspectInput, relocateInput, settleInput } from '../inputs.ts'
import { inspecting } from '../inspecting.ts'
import type { Ending } from '../setup.ts'
import { podSetup } from '../setup.ts'
import { BUG } from '../writing.ts'

/** Nothing is settled by what nobody could find out in time. */
const UNKNOWN_IN_TIME = {
  target: '#pod.needsOperator',
  actions: { type: 'overrule', params: { outcome: 'needsOperator', reason: 'inDoubt', deadline: 'restore' } },
} as const

/**
 * What the ledger is told at the end. Found by reading: where the right to write it was taken away in the middle of a run, that
 * run never ended. Past the deadline some tries more, as for a write to a pod; the next run finds the entry open, and settles it
 * anew. `while`: where that is so no more before another try, what comes in its place decides.
 */
function entering(settlement: 'closed' | 'left' | 'abandoned', ending: Ending, options: { while?: 'noHeirComes' } = {}) {
  const end = { type: 'overrule', params: ending } as const
  const isSettled = ending.outcome === 'settled'
  const target = isSettled ? '#pod.done' : '#pod.needsOperator'
  // An evicted pod is still there, and its journal with it: the next owner would settle it anew.
  const evicted = { guard: and(['isStored', 'keepsJournal']), target: '#pod.closing', actions: [end, 'forgetLateCall'] } as const
  const changed = options.while ? ([{ guard: not(options.while), target: '#pod.settling.awaiting' }] as const) : []
  return podSetup.createStateConfig({
    entry: 'forgetTries',
    initial: 'writing',
    states: {
      writing: {
        invoke: {
          id: 'settle',
          src: 'settle',
          input: settleInput(settlement),
          onDone: { target: 'written', actions: 'takeAnswer' },
          onError: BUG,
        },
      },
      written: {
        always: [
          ...(isSettled ? [evicted] : []),
          { guard: 'isStored', target, actions: end },
          { target: 'pausing', actions: 'countLateTry' },
        ],
      },
      pausing: {
        always: { guard: 'isOverdue', target, actions: end },
        after: { retry: [...changed, { target: 'writing' }] },
      },
    },
  })
}

/** The calls run or are being resolved, until the targets read as they were before. */
const restoring = podSetup.createStateConfig({
  entry: 'forgetTries',
  initial: 'calling',
  after: { restoreDeadline: { actions: 'expireRestore' } },
  states: {
    ...comparing(heirRestoreInput),
    compared: {
      always: [
        // Found by simulation: it put back the next pod there, in the middle of its upgrade.
        { guard: and(['isEqual', 'hasLateCall']), target: 'waitingOut' },
        { guard: 'isEqual', target: '#pod.settling.closing' },
        ...NOT_AS_BEFORE,
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
        { guard: and(['heirIsReady', 'heirIsRestless']), target: 'quieting' },
        { guard: 'heirIsReady', target: 'intending' },
        { guard: 'heirIsElsewhere', target: 'following' },
        // Found by trial: while it was on its way out the workload was scaled up again, and what came in its place was left out.
        { guard: and(['hasEnded', 'noHeirComes']), target: 'leaving' },
      ],
      after: { readyDeadline: [{ guard: 'noHeirComes', target: 'leaving' }, { target: 'overdue' }] },
    },
    // As in `readmitting`. Found by simulation: somebody had patched it, and had taken that back.
    quieting: {
      always: { guard: or([not('heirIsReady'), not('heirIsRestless'), 'heirIsDrained']), target: 'awaiting' },
      on: { heir: { guard: 'hasOtherHeir', target: 'quieting', reenter: true, actions: 'takeHeir' } },
      after: { quiet: 'intending' },
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
    intended: {
      always: [
        { guard: and(['isStored', 'heirIsReady']), target: 'restoring' },
        { guard: 'isStored', target: 'awaiting' },
        { target: 'intendingAgain', actions: 'countLateTry' },
      ],
    },
    intendingAgain: {
      always: {
        guard: 'isOverdue',
        target: '#pod.needsOperator',
        actions: { type: 'overrule', params: { outcome: 'needsOperator', reason: 'restoreNotRecorded', deadline: 'restore' } },
      },
      after: { retry: 'awaiting' },
    },
    restoring,

    closing: entering('closed', { outcome: 'settled', reason: 'settled' }),
    // Scaled down, or nothing that would replace it: the entry stays out, and there is nothing to put back.
    leaving: entering('left', { outcome: 'settled', reason: 'left' }, { while: 'noHeirComes' }),
    // The target is nobody's: left out, and named for a person.
    abandoning: entering('abandoned', { outcome: 'needsOperator', reason: 'abandoned' }),
    overdue: {
      always: {
        target: '#pod.needsOperator',
        actions: { type: 'overrule', params: { outcome: 'needsOperator', reason: 'heirLate', deadline: 'ready' } },
      },
    },
  },
})
