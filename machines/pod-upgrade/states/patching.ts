import { podSetup } from '../setup.ts'
import { writing } from '../writing.ts'

/** One guarded PATCH: the images and "patched". */
export const patching = podSetup.createStateConfig({
  entry: 'begin',
  initial: 'ready',
  states: {
    ready: {
      always: [
        { guard: 'isVanished', target: '#pod.settling' },
        {
          guard: 'isInterrupted',
          target: '#pod.readmitting',
          actions: { type: 'end', params: { outcome: 'unchanged', reason: 'interrupted' } },
        },
        { target: 'writing' },
      ],
    },
    ...writing('recordPatched', 'patched'),
    deciding: {
      always: [
        {
          guard: 'isUsurped',
          target: '#pod.stopped',
          actions: { type: 'end', params: { outcome: 'conflict', reason: 'journalUsurped' } },
        },
        { guard: 'isRecorded', target: 'patched' },
        { guard: 'isVanished', target: '#pod.settling' },
        {
          guard: 'isRejectedForGood',
          target: '#pod.readmitting',
          actions: { type: 'end', params: { outcome: 'failed', reason: 'notPatched' } },
        },
        {
          guard: 'isInterrupted',
          target: '#pod.readmitting',
          actions: { type: 'end', params: { outcome: 'unchanged', reason: 'interrupted' } },
        },
        { target: 'writing' },
      ],
    },
    patched: {
      entry: 'beginRestart',
      always: [
        {
          guard: 'asksForOthers',
          target: '#pod.failed',
          actions: { type: 'end', params: { outcome: 'failed', reason: 'rewritten' } },
        },
        { target: '#pod.restarting' },
      ],
    },
  },
})
