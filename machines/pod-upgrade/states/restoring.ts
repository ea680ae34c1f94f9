import { and, not, stateIn } from 'xstate'
import { resolving } from '../resolving.ts'
import { podSetup } from '../setup.ts'
import { writing } from '../writing.ts'

const refused = podSetup.createStateConfig({
  always: {
    target: '#pod.needsOperator',
    actions: { type: 'overrule', params: { outcome: 'needsOperator', reason: 'restoreRefused' } },
  },
})

const JUDGED = [
  { guard: 'isIn', target: '#pod.verifying' },
  {
    guard: 'isHidden',
    target: '#pod.needsOperator',
    actions: { type: 'overrule', params: { outcome: 'needsOperator', reason: 'inDoubt' } },
  },
  // Nothing is put back for a pod that is no more: what comes in its place decides. Found by reading: past the deadline it was for
  // a person.
  { guard: 'isVanished', target: '#pod.settling' },
  // Found by reading: no call had left, and the load balancer was blamed.
  {
    guard: and(['isExpired', 'isOut', not('isFit')]),
    target: '#pod.needsOperator',
    actions: { type: 'overrule', params: { outcome: 'needsOperator', reason: 'notFit', deadline: 'restore' } },
  },
  {
    guard: 'isExpired',
    target: '#pod.needsOperator',
    actions: { type: 'overrule', params: { outcome: 'needsOperator', reason: 'restoreNotConfirmed', deadline: 'restore' } },
  },
  { guard: 'isUnread', target: 'waiting' },
  // The intent may be old: what was ready then has ended since, or is another by now.
  { guard: not('isFit'), target: 'waiting' },
  { target: 'calling' },
] as const

const GIVEN_UP = [
  {
    guard: 'isOverdue',
    target: '#pod.needsOperator',
    actions: { type: 'overrule', params: { outcome: 'needsOperator', reason: 'restoreNotRecorded', deadline: 'restore' } },
  },
  {
    guard: 'isRejectedForGood',
    target: '#pod.needsOperator',
    actions: { type: 'overrule', params: { outcome: 'needsOperator', reason: 'restoreNotRecorded' } },
  },
] as const

/**
 * What came before the intent, and its write, says nothing of the load balancer: the deadline of the calls begins once it is
 * stored. Found by reading: a pod was put back after 90 s of quiet, its first call was answered "busy", and with the deadline of a
 * minute long past a person was asked at once.
 */
const countingAnew = (state: 'restoring' | 'readmitting') =>
  ({ guard: stateIn({ [state]: 'recorded' }), target: '.choosing', reenter: true }) as const

/** The restore intent is durable; the calls run or are being resolved. */
export const restoring = podSetup.createStateConfig({
  entry: 'begin',
  initial: 'ready',
  after: { restoreDeadline: { actions: 'expireRestore' } },
  always: countingAnew('restoring'),
  states: {
    ready: {
      always: [
        { guard: 'isVanished', target: '#pod.settling' },
        { guard: 'isNotReady', target: '#pod.warming', actions: 'dropDraft' },
        { target: 'writing' },
      ],
    },
    ...writing('recordRestore', 'recorded', 'ready'),
    recorded: {},
    // PATCH 3 does not guard Ready: its answer may show another pod than it was decided for, and the watch may have told more.
    choosing: { always: [{ guard: and(['isReady', not('isVanished')]), target: 'calling' }, { target: 'reading' }] },
    deciding: {
      always: [
        {
          guard: 'isUsurped',
          target: '#pod.stopped',
          actions: { type: 'overrule', params: { outcome: 'conflict', reason: 'journalUsurped' } },
        },
        { guard: 'isRecorded', target: 'recorded' },
        { guard: 'isVanished', target: '#pod.settling' },
        ...GIVEN_UP,
        // The container that was ready is another one by now.
        { guard: 'isNotReady', target: '#pod.warming', actions: 'dropDraft' },
        { target: 'pausing' },
      ],
    },
    ...resolving('restore', { applied: '#pod.verifying', refused: 'refused' }),
    refused,
    judging: {
      always: [
        { guard: and([not('isFit'), 'isOut', 'isRewritten', not('mayStillChange')]), target: '#pod.patching.rewritten' },
        // It has no way home on these images, and others are asked for: it is out already, as where it was only patched.
        {
          guard: and([not('isFit'), 'isOut', 'asksForOthers', not('mayStillChange'), not('isInterrupted')]),
          target: '#pod.emptying',
        },
        ...JUDGED,
      ],
    },
  },
})

/** It is not the pod any more that was drained, whatever the record says. */
const TOUCHED = [
  { guard: 'isVanished', target: '#pod.settling' },
  // A late images patch has landed after all: it goes on from there.
  { guard: and(['isKnownPatched', not('asksForOthers')]), target: '#pod.deriving', actions: 'reopen' },
  // An earlier run has patched it to other images: it is not untouched, nothing has proven what runs now, and its
  // Ready may be that of the container before. It comes home on those: nobody stays half done.
  { guard: and(['isKnownPatched', 'isInterrupted']), target: '#pod.deriving', actions: ['reopen', 'keepPatch'] },
  { guard: 'isKnownPatched', target: '#pod.failed' },
  // Found by simulation: the record says that it was not patched, and somebody has written it anew, or patched the pod.
  {
    guard: 'isPatchedElsewhere',
    target: '#pod.failed',
    actions: { type: 'overrule', params: { outcome: 'failed', reason: 'patchedElsewhere' } },
  },
] as const

/** Aborted or refused after the drain, before the patch: the untouched pod is put back. */
export const readmitting = podSetup.createStateConfig({
  entry: 'begin',
  initial: 'waitingReady',
  after: { restoreDeadline: { actions: 'expireRestore' } },
  always: countingAnew('readmitting'),
  states: {
    waitingReady: {
      always: [
        ...TOUCHED,
        { guard: and(['isPodReady', 'hasLateCall']), target: 'waitingOut' },
        { guard: and(['isPodReady', 'isRestless', 'isSpecObserved']), target: 'quieting' },
        { guard: and(['isPodReady', not('isRestless')]), target: 'writing' },
        {
          guard: 'isExpired',
          target: '#pod.failed',
          actions: { type: 'overrule', params: { outcome: 'failed', reason: 'baselineNotReady', deadline: 'restore' } },
        },
      ],
    },
    // As in `warming`: while the pod is out a late drain changes nothing.
    waitingOut: {
      always: { guard: 'isVanished', target: '#pod.settling' },
      after: { lateArrival: { target: 'waitingReady', actions: 'forgetLateCall' } },
    },
    // What the kubelet was about to replace is another by now; else its image has several names.
    quieting: {
      always: [...TOUCHED, { guard: not(and(['isPodReady', 'isRestless', 'isSpecObserved'])), target: 'waitingReady' }],
      on: { observed: { guard: 'hasOtherContainers', target: 'quieting', reenter: true, actions: 'observe' } },
      after: { quiet: 'writing' },
    },
    // A journal write first: it kills a late images patch. Then a call, whatever was read last: a drain in doubt may still
    // arrive, and what asks for nothing new changes nothing.
    ...writing('recordReadmission', 'recorded', 'waitingReady'),
    recorded: {},
    choosing: { always: [{ guard: and(['isFit', not('isVanished')]), target: 'calling' }, { target: 'reading' }] },
    deciding: {
      always: [
        {
          guard: 'isUsurped',
          target: '#pod.stopped',
          actions: { type: 'overrule', params: { outcome: 'conflict', reason: 'journalUsurped' } },
        },
        { guard: 'isRecorded', target: 'recorded' },
        { guard: 'isVanished', target: '#pod.settling' },
        { guard: 'isKnownPatched', target: 'waitingReady' },
        ...GIVEN_UP,
        { target: 'pausing' },
      ],
    },
    ...resolving('restore', { applied: '#pod.verifying', refused: 'refused' }),
    refused,
    judging: { always: JUDGED },
  },
})
