import { podSetup } from '../setup.ts'

/** Proven; waits until the new containers and the pod are ready for readyFor, and its endpoint is back. */
export const warming = podSetup.createStateConfig({
  entry: 'begin',
  initial: 'waiting',
  after: {
    readyDeadline: {
      target: 'failed',
      actions: { type: 'end', params: { outcome: 'failed', reason: 'notReady', deadline: 'ready' } },
    },
  },
  always: { guard: 'isVanished', target: 'settling' },
  on: { reloaded: 'restarting.confirming' },
  states: {
    waiting: { always: { guard: 'isReady', target: 'steady' } },
    steady: { always: { guard: 'isNotReady', target: 'waiting' }, after: { readyFor: '#pod.restoring' } },
  },
})
