import { and, not } from 'xstate'
import { resolving } from '../resolving.ts'
import { podSetup } from '../setup.ts'
import { writing } from '../writing.ts'

/** What another owner has written meanwhile. */
const MEANWHILE = [
  {
    guard: 'isUsurped',
    target: '#pod.stopped',
    actions: { type: 'overrule', params: { outcome: 'conflict', reason: 'journalUsurped' } },
  },
  { guard: 'isRecorded', target: 'recorded' },
  // An earlier owner's record comes to light: prior state and attempt are those, never the ones of a look at a drained pod.
  { guard: not('hasNothingOpen'), target: '#pod.deriving', actions: ['forgetRecord', 'reopen'] },
  // Found by simulation: its watch lagged, and the earlier owner's attempt was opened again after it was closed.
  { guard: 'isOutdated', target: '#pod.checking', actions: 'forgetRecord' },
] as const

/** Nothing was drained, whether the intent is stored or not. It may still arrive: a closed journal, under the same guard, keeps it out. */
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
  // Without a drain there is nothing left to change, and with one there is: an attempt of its own.
  { guard: not('asksForOthers'), target: '#pod.closing' },
  PLACE_LOST,
  { guard: 'isMoved', target: '#pod.checking' },
] as const

const draft = writing('recordDrain', 'recorded', 'ready')

const drain = resolving('drain', { applied: '#pod.emptying', refused: 'refused' })

/** The intent is durable; the drain calls run or are being resolved. */
export const draining = podSetup.createStateConfig({
  entry: ['begin', 'forgetTraffic'],
  initial: 'ready',
  after: { drainDeadline: { actions: 'expireDrain' } },
  // Where another pod goes down while the intent is written, this one waits again, as in `checking`.
  on: { wait: { actions: 'losePlace' } },
  states: {
    ready: { always: [...MEANWHILE, ...NOT_STARTED, { target: 'writing' }] },
    ...draft,
    // The write may still arrive, see `deciding`.
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
    // It may be restarting already, as in `emptying`: not only when another load balancer says again where it is.
    reading: { ...drain.reading, on: { reloaded: 'calling' } },
    waiting: { ...drain.waiting, on: { reloaded: 'calling' } },
    // An earlier owner has written down that it would be drained, and it is not, in any load balancer. Found by simulation:
    // others had gone down since. However long it waits, its deadline begins with its place.
    admitting: {
      always: { guard: 'isInterrupted', target: '#pod.deriving' },
      on: { start: { target: '#pod.deriving', actions: 'takePlace' } },
      // That owner's call may still arrive.
      after: { retry: '#pod.deriving' },
    },
    refused: {
      always: { target: '#pod.readmitting', actions: { type: 'end', params: { outcome: 'failed', reason: 'drainRefused' } } },
    },
    judging: {
      always: [
        { guard: 'isOut', target: '#pod.emptying' },
        { guard: 'isVanished', target: '#pod.settling' },
        // A restore is no way out: a drain that is still under way would arrive after it, and nobody could see that.
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
