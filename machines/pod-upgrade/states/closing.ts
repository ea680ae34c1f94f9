import { and, or } from 'xstate'
import { inspectInput } from '../inputs.ts'
import { podSetup } from '../setup.ts'
import { BUG, writing } from '../writing.ts'

/**
 * Home. Its journal is closed off the critical path: it takes no place in the window any more. Where a call that nobody
 * answered may still arrive, a drain after the restore, the intent stays open until that time is over and the pod is
 * seen to be in.
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
        // It did arrive. The intent of this restore is still open.
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
        // An open restore intent on a pod that is in: the same command finds it so, and closes it. Its run is not over with that: who
        // came after its end would put back what an operator has out by then. Found by simulation (seed 44077482): nobody was told.
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
        // An earlier run's upgrade was brought to its end; this run's is still to do, as an attempt of its own.
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
        // An earlier run has put it back as it was, and this one asks for that.
        { target: '#pod.done', actions: { type: 'end', params: { outcome: 'skipped', reason: 'skipped' } } },
      ],
    },
  },
})
