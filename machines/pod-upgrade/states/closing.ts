import { and, or } from 'xstate'
import { inspectInput } from '../inputs.ts'
import { podSetup } from '../setup.ts'
import { BUG, writing } from '../writing.ts'

/**
 * The pod is home and takes no place in the window any more, so closing its journal delays no other pod. A drain without an answer may
 * still arrive after the restore. The intent stays open until that time is over and the pod reads as in.
 */
export const closing = podSetup.createStateConfig({
  entry: 'begin',
  initial: 'choosing',
  after: { restoreDeadline: { actions: 'expireRestore' } },
  states: {
    choosing: { always: [{ guard: 'hasLateCall', target: 'waitingOut' }, { target: 'writing' }] },
    waitingOut: { after: { lateArrival: 'auditing' } },
    auditing: {
      invoke: {
        id: 'inspect',
        src: 'inspect',
        input: inspectInput,
        onDone: { target: 'audited', actions: 'takeReading' },
        onError: BUG,
      },
    },
    audited: {
      always: [
        { guard: 'isIn', target: 'writing', actions: 'forgetLateCall' },
        { guard: 'isVanished', target: '#pod.settling' },
        {
          guard: and(['isUnread', 'isExpired']),
          target: '#pod.needsOperator',
          actions: { type: 'overrule', params: { outcome: 'needsOperator', reason: 'restoreNotConfirmed', deadline: 'restore' } },
        },
        { guard: 'isUnread', target: 'auditingAgain' },
        // The drain has arrived. The intent of this restore is still open.
        { target: '#pod.restoring.calling', actions: 'forgetLateCall' },
      ],
    },
    auditingAgain: { after: { retry: 'auditing' } },
    ...writing('recordClosed', 'closed'),
    deciding: {
      always: [
        { guard: 'isGone', target: 'closed' },
        {
          guard: 'isUsurped',
          target: '#pod.stopped',
          actions: { type: 'overrule', params: { outcome: 'conflict', reason: 'journalUsurped' } },
        },
        { guard: 'isRecorded', target: 'closed' },
        { guard: and(['isRejectedForGood', or(['isEnding', 'hasNothingOpen'])]), target: 'closed' },
        // The restore intent stays open on a pod that is in. The same command closes it. The outcome is a failure, so that the run stays
        // open as well: a run after its end would restore entries that an operator has taken out by then.
        {
          guard: 'isRejectedForGood',
          target: '#pod.done',
          actions: { type: 'overrule', params: { outcome: 'failed', reason: 'notClosed' } },
        },
        { target: 'pausing' },
      ],
    },
    closed: {
      always: [
        { guard: 'isDecided', target: '#pod.done' },
        // The upgrade of an earlier run has ended. The images of this run are an attempt of their own.
        {
          guard: and(['asksForOthers', 'isGone']),
          target: '#pod.done',
          actions: { type: 'end', params: { outcome: 'settled', reason: 'goneBefore' } },
        },
        { guard: and(['asksForOthers', 'hasNothingOpen']), target: '#pod.queued', actions: 'forgetRecord' },
        {
          guard: 'asksForOthers',
          target: '#pod.done',
          actions: { type: 'end', params: { outcome: 'failed', reason: 'notClosed' } },
        },
        {
          guard: 'keepsPatch',
          target: '#pod.done',
          actions: { type: 'end', params: { outcome: 'unchanged', reason: 'keptPatch' } },
        },
        {
          guard: 'hasPatched',
          target: '#pod.done',
          actions: { type: 'end', params: { outcome: 'upgraded', reason: 'upgraded' } },
        },
        // An earlier run has restored the pod to its former state, and this run asks for that state.
        { target: '#pod.done', actions: { type: 'end', params: { outcome: 'skipped', reason: 'skipped' } } },
      ],
    },
  },
})
