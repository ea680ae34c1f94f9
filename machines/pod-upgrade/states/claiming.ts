import { podSetup } from '../setup.ts'
import { writing } from '../writing.ts'

/** The events that can have changed the record meanwhile. */
const MEANWHILE = [
  {
    guard: 'isUsurped',
    target: '#pod.stopped',
    actions: { type: 'overrule', params: { outcome: 'conflict', reason: 'journalUsurped' } },
  },
  { guard: 'isGone', target: '#pod.deriving' },
  { guard: 'isRecorded', target: '#pod.deriving' },
  // The earlier owner has closed the record.
  { guard: 'hasNothingOpen', target: '#pod.deriving', actions: 'forgetRecord' },
] as const

/**
 * Writes an open record of an earlier owner under the name of this owner, before any effect. The observation may be old: the guard of the
 * write proves that the record still stands. Later writes of the earlier owner are then refused.
 */
export const claiming = podSetup.createStateConfig({
  entry: 'begin',
  initial: 'ready',
  after: { restoreDeadline: { actions: 'expireRestore' } },
  states: {
    // The watch may have brought news during the pause before another try.
    ready: { always: [...MEANWHILE, { target: 'writing' }] },
    ...writing('recordClaim', '#pod.deriving', 'ready'),
    deciding: {
      always: [
        ...MEANWHILE,
        {
          guard: 'isOverdue',
          target: '#pod.failed',
          actions: { type: 'overrule', params: { outcome: 'failed', reason: 'notClaimed', deadline: 'restore' } },
        },
        {
          guard: 'isRejectedForGood',
          target: '#pod.failed',
          actions: { type: 'overrule', params: { outcome: 'failed', reason: 'notClaimed' } },
        },
        { target: 'pausing' },
      ],
    },
  },
})
