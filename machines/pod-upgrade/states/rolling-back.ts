import { and } from 'xstate'
import { inspectAllInput } from '../inputs.ts'
import { inspecting } from '../inspecting.ts'
import { podSetup } from '../setup.ts'
import { writing } from '../writing.ts'

/**
 * It failed after the patch: one guarded PATCH, as the images patch was, to the images that it had before. From there it
 * goes the way of every patched pod: proven, ready, and put back as it was.
 */
export const rollingBack = podSetup.createStateConfig({
  entry: 'begin',
  // Also before the first try. Found by reading: a load balancer had forgotten the drain, and had not taken it again by the end of
  // the restart deadline; the former images were patched in where requests arrived.
  initial: 'confirming',
  after: { drainDeadline: { actions: 'expireDrain' } },
  states: {
    ready: {
      always: [{ guard: 'isVanished', target: '#pod.settling' }, { target: 'writing' }],
    },
    ...writing('recordRollback', 'patched', 'confirming'),
    // As in `patching`: a load balancer may have been reloaded since, which drains it again by itself.
    confirming: inspecting(inspectAllInput),
    judging: {
      always: [
        { guard: 'isVanished', target: '#pod.settling' },
        // Found by simulation. One that is not ready fails the requests that it gets: then going back is what helps.
        {
          guard: and(['isReclaimed', 'isPodReady']),
          target: '#pod.failed',
          actions: { type: 'overrule', params: { outcome: 'failed', reason: 'reclaimed' } },
        },
        { guard: 'isOut', target: 'ready' },
        {
          guard: 'isExpired',
          target: '#pod.failed',
          actions: { type: 'overrule', params: { outcome: 'failed', reason: 'notRolledBack', deadline: 'drain' } },
        },
        { target: 'pausing' },
      ],
    },
    deciding: {
      always: [
        {
          guard: 'isUsurped',
          target: '#pod.stopped',
          actions: { type: 'overrule', params: { outcome: 'conflict', reason: 'journalUsurped' } },
        },
        { guard: 'isRecorded', target: 'patched' },
        { guard: 'isVanished', target: '#pod.settling' },
        {
          guard: 'isOverdue',
          target: '#pod.failed',
          actions: { type: 'overrule', params: { outcome: 'failed', reason: 'notRolledBack', deadline: 'drain' } },
        },
        {
          guard: 'isRejectedForGood',
          target: '#pod.failed',
          actions: { type: 'overrule', params: { outcome: 'failed', reason: 'notRolledBack' } },
        },
        { target: 'pausing' },
      ],
    },
    patched: {
      entry: 'beginRestart',
      always: [
        {
          guard: 'asksForOthers',
          target: '#pod.failed',
          actions: { type: 'overrule', params: { outcome: 'failed', reason: 'rewritten' } },
        },
        { target: '#pod.restarting' },
      ],
    },
  },
})
