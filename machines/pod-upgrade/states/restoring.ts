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
  // A pod that is gone is not restored, not even past the deadline: its replacement decides.
  { guard: 'isVanished', target: '#pod.settling' },
  // The pod was not fit for a restore, so no call has left. The load balancer is not the cause.
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
  // The intent may be old. The container that was ready may have ended, or been replaced.
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
 * Restarts the deadline once the intent is stored. The wait before the intent, and its write, say nothing of the load balancer: a long
 * quiet time must not use up the deadline of the calls.
 */
const countingAnew = (state: 'restoring' | 'readmitting') =>
  ({ guard: stateIn({ [state]: 'recorded' }), target: '.choosing', reenter: true }) as const

/** The restore intent is durable. The calls run, or are being resolved. */
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
    // PATCH 3 does not guard Ready. Its answer, or the watch, may show a pod that is not ready any more.
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
        // The container that was ready has been replaced.
        { guard: 'isNotReady', target: '#pod.warming', actions: 'dropDraft' },
        { target: 'pausing' },
      ],
    },
    ...resolving('restore', { applied: '#pod.verifying', refused: 'refused' }),
    refused,
    judging: {
      always: [
        { guard: and([not('isFit'), 'isOut', 'isRewritten', not('mayStillChange')]), target: '#pod.patching.rewritten' },
        // The pod cannot go home on these images, and the request has others. The pod is out already, and gets the new ones.
        {
          guard: and([not('isFit'), 'isOut', 'asksForOthers', not('mayStillChange'), not('isInterrupted')]),
          target: '#pod.emptying',
        },
        ...JUDGED,
      ],
    },
  },
})

/** The ways on of a pod that has changed since the drain, whatever its record says. */
const TOUCHED = [
  { guard: 'isVanished', target: '#pod.settling' },
  // A late patch of the images has landed. The upgrade goes on from there.
  { guard: and(['isKnownPatched', not('asksForOthers')]), target: '#pod.deriving', actions: 'reopen' },
  // An earlier run has patched the pod to other images, and nothing proves the running containers. An interrupted run brings the pod home
  // on those images, so that no pod stays half done.
  { guard: and(['isKnownPatched', 'isInterrupted']), target: '#pod.deriving', actions: ['reopen', 'keepPatch'] },
  { guard: 'isKnownPatched', target: '#pod.failed' },
  // The record names no patch, but another writer has replaced the record or patched the pod.
  {
    guard: 'isPatchedElsewhere',
    target: '#pod.failed',
    actions: { type: 'overrule', params: { outcome: 'failed', reason: 'patchedElsewhere' } },
  },
] as const

/** Restores the unpatched pod after an abort or a refusal between drain and patch. */
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
    // As in `warming`: a late drain changes nothing while the pod is out.
    waitingOut: {
      always: { guard: 'isVanished', target: '#pod.settling' },
      after: { lateArrival: { target: 'waitingReady', actions: 'forgetLateCall' } },
    },
    // After the quiet time the kubelet has replaced the container, or the image has several names.
    quieting: {
      always: [...TOUCHED, { guard: not(and(['isPodReady', 'isRestless', 'isSpecObserved'])), target: 'waitingReady' }],
      on: { observed: { guard: 'hasOtherContainers', target: 'quieting', reenter: true, actions: 'observe' } },
      after: { quiet: 'writing' },
    },
    // The journal write comes first: it keeps out a late patch of the images. The restore call follows, whatever the last reading was: a
    // drain in doubt may still arrive, and a restore of the present state changes nothing.
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
