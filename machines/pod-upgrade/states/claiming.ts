import { podSetup } from '../setup.ts'
import { writing } from '../writing.ts'

/** What has become of the record meanwhile. */
const MEANWHILE = [
  {
    guard: 'isUsurped',
    target: '#pod.stopped',
    actions: { type: 'overrule', params: { outcome: 'conflict', reason: 'journalUsurped' } },
  },
  { guard: 'isGone', target: '#pod.deriving' },
  { guard: 'isRecorded', target: '#pod.deriving' },
  // Closed, by the earlier owner.
  { guard: 'hasNothingOpen', target: '#pod.deriving', actions: 'forgetRecord' },
] as const

/**
 * An open record of an earlier owner is written anew in this owner's name, before any effect. What was observed may be
 * old: by its guard the write says that the record still stands, and whatever the earlier owner has under way is refused.
 */
export const claiming = podSetup.createStateConfig({
  entry: 'begin',
  initial: 'ready',
  after: { restoreDeadline: { actions: 'expireRestore' } },
  states: {
    // In the pause before another try the watch may have told more.
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
