/**
 * The upgrade of one pod. Each state ends on an observed fact, never on elapsed time alone. Each invoke is one call of a port, so that the
 * machine is the only program counter. The machine does no I/O, and its only clock is `after`.
 * The journal on the pod and the observation decide where a pod is: `deriving` is the first state of a fresh start and of a resume. The
 * machine waits for the end of each call. A deadline or an interrupt during a call is noted, and acted on at the next safe point.
 */
import { and, not, type SnapshotFrom } from 'xstate'
import { NO_ENDPOINTS } from '../../src/pods/endpoints.ts'
import { openJournal } from '../../src/pods/open-journal.ts'
import { openRecord } from './facts.ts'
import { podSetup } from './setup.ts'
import { checking } from './states/checking.ts'
import { claiming } from './states/claiming.ts'
import { closing } from './states/closing.ts'
import { draining } from './states/draining.ts'
import { emptying } from './states/emptying.ts'
import { patching } from './states/patching.ts'
import { readmitting, restoring } from './states/restoring.ts'
import { rollingBack } from './states/rolling-back.ts'
import { restarting } from './states/restarting.ts'
import { settling } from './states/settling.ts'
import { verifying } from './states/verifying.ts'
import { warming } from './states/warming.ts'

export const podUpgradeMachine = podSetup.createMachine({
  id: 'pod',
  initial: 'deriving',
  context: ({ input }) => ({
    ...input,
    uid: input.pod.uid,
    record: openRecord(input),
    lastRead: openJournal(input.stored),
    restart: undefined,
    traffic: undefined,
    endpoints: NO_ENDPOINTS,
    heir: undefined,
    heirExpected: true,
    admitted: false,
    interrupted: false,
    passedOver: false,
    returned: false,
    inDoubt: false,
    keepsPatch: false,
    lateCall: false,
    expired: undefined,
    answer: undefined,
    trouble: undefined,
    tries: 0,
    outcome: undefined,
    reason: undefined,
    deadline: undefined,
  }),
  on: {
    observed: { actions: 'observe' },
    gone: { actions: 'markGone' },
    endpoints: { actions: 'takeEndpoints' },
    heir: { actions: 'takeHeir' },
    interrupt: { actions: 'markInterrupted' },
    checkpoint: { target: '.stopped', actions: { type: 'overrule', params: { outcome: 'interrupted', reason: 'checkpoint' } } },
    lost: { target: '.stopped', actions: 'endLost' },
  },
  states: {
    /** Decides on the state of the pod, by its record and the observation. */
    deriving: {
      entry: ['begin', { type: 'noteRollback', params: { outcome: 'rolledBack', reason: 'rolledBackBefore' } }],
      always: [
        {
          guard: 'isUnreadable',
          target: 'needsOperator',
          actions: { type: 'overrule', params: { outcome: 'needsOperator', reason: 'journalUnreadable' } },
        },
        {
          guard: 'isUsurped',
          target: 'stopped',
          actions: { type: 'overrule', params: { outcome: 'conflict', reason: 'journalUsurped' } },
        },
        {
          guard: and(['isGone', 'hasNoRecord']),
          target: 'done',
          actions: { type: 'end', params: { outcome: 'settled', reason: 'goneBefore' } },
        },
        { guard: 'isGone', target: 'settling' },
        { guard: and([not('hasNoRecord'), not('isRecorded')]), target: 'claiming' },
        // An earlier owner has settled the pod's targets, and has not closed its journal.
        {
          guard: and(['isSettled', not('hasNoRecord')]),
          target: 'closing',
          actions: { type: 'overrule', params: { outcome: 'settled', reason: 'settledBefore' } },
        },
        { guard: and(['isVanished', not('hasNoRecord')]), target: 'settling' },
        {
          guard: and(['hasNoRecord', not('asksForOthers')]),
          target: 'done',
          actions: { type: 'end', params: { outcome: 'skipped', reason: 'skipped' } },
        },
        { guard: 'hasNoRecord', target: 'queued' },
        // A takeover and a resume begin with a read-back. An open drain record of a pod that needs no drain is closed without one: nothing
        // was drained or patched, and the next attempt decides anew.
        { guard: and(['hasDrainRecord', 'isUndrained']), target: 'closing' },
        { guard: 'hasDrainRecord', target: 'draining.reading' },
        { guard: 'hasRestoreRecord', target: 'restoring.reading' },
        // A pod that has moved may also have other images by another writer. Those images must not be patched over.
        { guard: 'isRewritten', target: 'patching.rewritten' },
        // The request has other images, and the pod is drained already.
        { guard: 'asksForOthers', target: 'draining.reading' },
        { target: 'restarting.confirming', actions: 'beginRestart' },
      ],
    },
    /** Waits for a place in the window. A pod that comes back here has lost its earlier place to another pod. */
    queued: {
      entry: 'losePlace',
      always: [
        // The record of an earlier owner has become visible.
        { guard: not('hasNothingOpen'), target: 'deriving', actions: 'reopen' },
        {
          guard: 'isInterrupted',
          target: 'done',
          actions: { type: 'end', params: { outcome: 'unchanged', reason: 'notStarted' } },
        },
        { guard: 'isEnding', target: 'done', actions: { type: 'end', params: { outcome: 'settled', reason: 'goneBefore' } } },
        {
          guard: not('differsFromRequest'),
          target: 'done',
          actions: { type: 'end', params: { outcome: 'skipped', reason: 'skipped' } },
        },
      ],
      on: { start: { target: 'checking', actions: 'takePlace' } },
    },
    claiming,
    checking,
    draining,
    emptying,
    patching,
    restarting,
    warming,
    rollingBack,
    restoring,
    verifying,
    readmitting,
    settling,
    closing,
    done: { type: 'final' },
    /** The pod stays out of rotation, or was refused before the drain. A later run can go on from there. */
    failed: { type: 'final' },
    /** The traffic state of the pod cannot be known or repaired. sluice never guesses. */
    needsOperator: { type: 'final' },
    /** The pod is left in its state: the run was interrupted, or another owner has the pod. */
    stopped: { type: 'final' },
  },
})

/** The state of one pod upgrade at one moment: `value` is the state, and `context` holds the facts. */
export type PodSnapshot = SnapshotFrom<typeof podUpgradeMachine>
