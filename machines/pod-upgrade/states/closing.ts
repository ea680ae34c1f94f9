import { and } from 'xstate'
import { podSetup } from '../setup.ts'
import { writing } from '../writing.ts'

/** Home. Its journal is closed off the critical path: it takes no place in the window any more. */
export const closing = podSetup.createStateConfig({
  entry: 'begin',
  initial: 'writing',
  states: {
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
        // An open restore intent on a pod that is in: the next run finds it so, and closes it.
        { guard: 'isRejectedForGood', target: 'closed' },
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
          guard: 'hasPatched',
          target: '#pod.done',
          actions: { type: 'end', params: { outcome: 'upgraded', reason: 'upgraded' } },
        },
        { target: '#pod.done', actions: { type: 'end', params: { outcome: 'unchanged', reason: 'readmitted' } } },
      ],
    },
  },
})
