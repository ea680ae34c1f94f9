import { podSetup } from '../setup.ts'
import { writing } from '../writing.ts'

/**
 * An open record of an earlier owner is written anew in this owner's name, before any effect. What was observed may be
 * old: by its guard the write says that the record still stands, and whatever the earlier owner has under way is refused.
 */
export const claiming = podSetup.createStateConfig({
  entry: 'begin',
  initial: 'writing',
  after: { restoreDeadline: { actions: 'expireRestore' } },
  states: {
    ...writing('recordClaim', '#pod.deriving'),
    deciding: {
      always: [
        {
          guard: 'isUsurped',
          target: '#pod.stopped',
          actions: { type: 'overrule', params: { outcome: 'conflict', reason: 'journalUsurped' } },
        },
        { guard: 'isGone', target: '#pod.deriving' },
        { guard: 'isRecorded', target: '#pod.deriving' },
        // Closed meanwhile, by the earlier owner.
        { guard: 'hasNothingOpen', target: '#pod.deriving', actions: 'forgetRecord' },
        {
          guard: 'isRejectedForGood',
          target: '#pod.failed',
          actions: { type: 'overrule', params: { outcome: 'failed', reason: 'notClaimed' } },
        },
        {
          guard: 'isExpired',
          target: '#pod.failed',
          actions: { type: 'overrule', params: { outcome: 'failed', reason: 'notClaimed', deadline: 'restore' } },
        },
        { target: 'pausing' },
      ],
    },
  },
})
