import { and, not, or } from 'xstate'
import { comparing, NOT_AS_BEFORE } from '../comparing.ts'
import { followInput, heirRestoreInput, inspectInput, relocateInput, settleInput } from '../inputs.ts'
import { inspecting } from '../inspecting.ts'
import type { Ending } from '../setup.ts'
import { podSetup } from '../setup.ts'
import { BUG } from '../writing.ts'

/** The end of a pod whose entries could not be read in time. sluice settles nothing that it does not know. */
const UNKNOWN_IN_TIME = {
  target: '#pod.needsOperator',
  actions: { type: 'overrule', params: { outcome: 'needsOperator', reason: 'inDoubt', deadline: 'restore' } },
} as const

/**
 * Writes the settlement into the ledger. Tries past the deadline are limited, since the right to write may be gone; the next run finds the
 * entry open, and settles it anew. With `while`, a guard that no longer holds before another try leads back to `awaiting`.
 */
function entering(settlement: 'closed' | 'left' | 'abandoned', ending: Ending, options: { while?: 'noHeirComes' } = {}) {
  const end = { type: 'overrule', params: ending } as const
  const isSettled = ending.outcome === 'settled'
  const target = isSettled ? '#pod.done' : '#pod.needsOperator'
  // The journal of an evicted pod is still there. It is closed, since the next owner would settle the pod anew.
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

/** Restores the targets until they read as they did before the drain. */
const restoring = podSetup.createStateConfig({
  entry: 'forgetTries',
  initial: 'calling',
  after: { restoreDeadline: { actions: 'expireRestore' } },
  states: {
    ...comparing(heirRestoreInput),
    compared: {
      always: [
        // A late call could restore the next pod at this address in the middle of its upgrade. So it is waited out.
        { guard: and(['isEqual', 'hasLateCall']), target: 'waitingOut' },
        { guard: 'isEqual', target: '#pod.settling.closing' },
        ...NOT_AS_BEFORE,
        { target: 'pausing' },
      ],
    },
    waitingOut: { after: { lateArrival: { target: 'comparing', actions: 'forgetLateCall' } } },
    // An unknown state is read again. A state that was seen to differ is restored again.
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
 * Settles the targets of a pod that was deleted, replaced or moved, from the journal or the ledger. A drained target is restored only for a
 * ready pod of the same controller at the same address. Any other target is reported by name.
 */
export const settling = podSetup.createStateConfig({
  entry: ['begin', 'forgetTraffic'],
  initial: 'choosing',
  // The time for the replacement to come, and for the restore. The deadline decides only where no other fact does.
  after: { settleDeadline: { actions: 'expireRestore' } },
  states: {
    choosing: {
      always: [{ guard: 'isEnding', target: 'reading' }, { guard: 'isMoved', target: 'relocating' }, { target: '#pod.deriving' }],
    },

    // The pod has a new address. The load balancers may have followed it.
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
    // The entries still have the old address, or an operator has removed them, and there is nothing to restore. Entries that the operator
    // made in their place are drained as any others, unless the pod is patched already.
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
        // sluice has drained nothing for a pod that is in no load balancer, or that an operator has taken out.
        { guard: 'hasNoTouchedTargets', target: 'closing' },
        {
          guard: 'isHidden',
          target: '#pod.needsOperator',
          actions: { type: 'overrule', params: { outcome: 'needsOperator', reason: 'inDoubt' } },
        },
        { guard: and(['isUnread', 'isExpired']), ...UNKNOWN_IN_TIME },
        { guard: 'isUnread', target: 'waiting' },
        { guard: 'isRemoved', target: 'closing' },
        // A drain without an answer could arrive after the settlement, when no process is there to repair it.
        { guard: and(['isIn', 'mayStillChange']), target: 'waitingOut' },
        // The reading may be from before the drain.
        { guard: and(['isIn', 'mayBeOld']), target: 'waiting' },
        // The target was never drained, or was restored before the pod went.
        { guard: 'isIn', target: 'closing' },
        { target: 'awaiting' },
      ],
    },
    waiting: { after: { retry: 'reading' } },
    waitingOut: { after: { lateArrival: { target: 'reading', actions: 'forgetLateCall' } } },

    // Waits for the replacement.
    awaiting: {
      always: [
        // A replacement that an earlier run has drained is in the middle of its own upgrade. Its own record decides when it is restored.
        { guard: 'heirIsDrained', target: 'closing' },
        { guard: and(['heirIsReady', 'mayStillChange']), target: 'waitingOut' },
        { guard: and(['heirIsReady', 'heirIsRestless']), target: 'quieting' },
        { guard: 'heirIsReady', target: 'intending' },
        { guard: 'heirIsElsewhere', target: 'following' },
        // A workload that is scaled up again while the pod ends gets a replacement after all. So the end of the pod is waited for.
        { guard: and(['hasEnded', 'noHeirComes']), target: 'leaving' },
      ],
      after: { readyDeadline: [{ guard: 'noHeirComes', target: 'leaving' }, { target: 'overdue' }] },
    },
    // As in `readmitting`: the kubelet may be about to replace a container for an image that was patched in and taken back.
    quieting: {
      always: { guard: or([not('heirIsReady'), not('heirIsRestless'), 'heirIsDrained']), target: 'awaiting' },
      on: { heir: { guard: 'hasOtherHeir', target: 'quieting', reenter: true, actions: 'takeHeir' } },
      after: { quiet: 'intending' },
    },
    // The replacement has another address. An operator may have pointed the entries there, and they then mean the replacement.
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
    // The workload was scaled down, or has no controller. The entries stay out, since no pod comes in this place.
    leaving: entering('left', { outcome: 'settled', reason: 'left' }, { while: 'noHeirComes' }),
    // The entries mean no pod of the workload. They stay out, and the report names them for an operator.
    abandoning: entering('abandoned', { outcome: 'needsOperator', reason: 'abandoned' }),
    overdue: {
      always: {
        target: '#pod.needsOperator',
        actions: { type: 'overrule', params: { outcome: 'needsOperator', reason: 'heirLate', deadline: 'ready' } },
      },
    },
  },
})
