import { and, not } from 'xstate'
import { resolving } from '../resolving.ts'
import { podSetup } from '../setup.ts'
import { writing } from '../writing.ts'

/** The events by which another owner can have changed the record meanwhile. */
const MEANWHILE = [
  {
    guard: 'isUsurped',
    target: '#pod.stopped',
    actions: { type: 'overrule', params: { outcome: 'conflict', reason: 'journalUsurped' } },
  },
  { guard: 'isRecorded', target: 'recorded' },
  // The record of an earlier owner has become visible. Its prior state and attempt count, since a look at a drained pod would be wrong.
  { guard: not('hasNothingOpen'), target: '#pod.deriving', actions: ['forgetRecord', 'reopen'] },
  // A record that is older than a closed attempt must not be written. A watch that lags can show the pod so late.
  { guard: 'isOutdated', target: '#pod.checking', actions: 'forgetRecord' },
] as const

/** Nothing was drained. The write of the intent may still arrive, and a closed journal under the same guard keeps it out. */
const INTERRUPTED = {
  guard: 'isInterrupted',
  target: '#pod.closing',
  actions: { type: 'end', params: { outcome: 'unchanged', reason: 'notStarted' } },
} as const

const PLACE_LOST = { guard: 'lacksPlace', target: '#pod.closing' } as const

const NOT_STARTED = [
  {
    guard: 'isEnding',
    target: '#pod.done',
    actions: { type: 'end', params: { outcome: 'settled', reason: 'goneBefore' } },
  },
  INTERRUPTED,
  {
    guard: not('differsFromRequest'),
    target: '#pod.closing',
    actions: { type: 'end', params: { outcome: 'skipped', reason: 'skipped' } },
  },
  // Images that need no drain are all set, and images that need one are left. They are an attempt of their own.
  { guard: not('asksForOthers'), target: '#pod.closing' },
  PLACE_LOST,
  { guard: 'isMoved', target: '#pod.checking' },
] as const

const draft = writing('recordDrain', 'recorded', 'ready')

const drain = resolving('drain', { applied: '#pod.emptying', refused: 'refused' })

/** The drain intent is durable. The drain calls run, or are being resolved. */
export const draining = podSetup.createStateConfig({
  entry: ['begin', 'forgetTraffic'],
  initial: 'ready',
  after: { drainDeadline: { actions: 'expireDrain' } },
  // Where another pod goes down while the intent is written, this pod loses its place, as in `checking`.
  on: { wait: { actions: 'losePlace' } },
  states: {
    ready: { always: [...MEANWHILE, ...NOT_STARTED, { target: 'writing' }] },
    ...draft,
    // The write may still arrive. See `deciding`.
    pausing: { ...draft.pausing, on: { wait: '#pod.closing' } },
    deciding: {
      always: [
        ...MEANWHILE,
        ...NOT_STARTED,
        {
          guard: 'isOverdue',
          target: '#pod.closing',
          actions: { type: 'end', params: { outcome: 'failed', reason: 'drainNotRecorded', deadline: 'drain' } },
        },
        {
          guard: 'isRejectedForGood',
          target: '#pod.closing',
          actions: { type: 'end', params: { outcome: 'failed', reason: 'drainNotRecorded' } },
        },
        { target: 'pausing' },
      ],
    },
    recorded: { always: [INTERRUPTED, PLACE_LOST, { target: 'calling' }] },
    ...drain,
    // The load balancer may be restarting already, as in `emptying`. The drain is sent again at once, not only after another load balancer
    // has answered.
    reading: { ...drain.reading, on: { reloaded: 'calling' } },
    waiting: { ...drain.waiting, on: { reloaded: 'calling' } },
    // The intent of an earlier owner was not carried out in any load balancer. Other pods may be down since, so the pod needs a place. Its
    // deadline begins with the place.
    admitting: {
      always: { guard: 'isInterrupted', target: '#pod.deriving' },
      on: { start: { target: '#pod.deriving', actions: 'takePlace' } },
      // The drain call of the earlier owner may still arrive.
      after: { retry: '#pod.deriving' },
    },
    refused: {
      always: { target: '#pod.readmitting', actions: { type: 'end', params: { outcome: 'failed', reason: 'drainRefused' } } },
    },
    judging: {
      always: [
        { guard: 'isOut', target: '#pod.emptying' },
        { guard: 'isVanished', target: '#pod.settling' },
        // A restore cannot resolve this: a drain that is under way could arrive after it, unseen.
        {
          guard: 'isHidden',
          target: '#pod.needsOperator',
          actions: { type: 'overrule', params: { outcome: 'needsOperator', reason: 'inDoubt' } },
        },
        {
          guard: 'isInterrupted',
          target: '#pod.readmitting',
          actions: { type: 'end', params: { outcome: 'unchanged', reason: 'interrupted' } },
        },
        { guard: and(['lacksPlace', 'isIn']), target: 'admitting' },
        {
          guard: 'isExpired',
          target: '#pod.readmitting',
          actions: { type: 'end', params: { outcome: 'failed', reason: 'drainNotConfirmed', deadline: 'drain' } },
        },
        { guard: 'isUnread', target: 'waiting' },
        { target: 'calling' },
      ],
    },
  },
})
