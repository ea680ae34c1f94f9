/**
 * The upgrade of one pod. Each state's exit is a fact that was observed, never elapsed time alone; every invoke is one
 * port call, so that the machine is the only program counter; nothing here does I/O, or knows a clock but `after`.
 *
 * Where a pod is follows from two things only, the journal on it and what is observed: `deriving` is the first state of
 * a fresh start and of a resume alike. A call that is under way is always waited out: a deadline or an interrupt that
 * comes meanwhile is noted, and acted on at the next safe point.
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
    /** Transient: where is this pod, by record and observation? */
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
        // Settled by an earlier owner, which has not closed its journal.
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
        // A takeover and a resume always begin with the read-back.
        // Nothing was drained or patched: whether it is to be drained is decided anew, by the images and the config of now, and in its turn.
        { guard: and(['hasDrainRecord', 'isUndrained']), target: 'closing' },
        { guard: 'hasDrainRecord', target: 'draining.reading' },
        { guard: 'hasRestoreRecord', target: 'restoring.reading' },
        // Found by simulation (seed 42000193): the pod had moved, and was patched over what somebody had patched in since.
        { guard: 'isRewritten', target: 'patching.rewritten' },
        // A new request, for other images: the pod is out already.
        { guard: 'asksForOthers', target: 'draining.reading' },
        { target: 'restarting.confirming', actions: 'beginRestart' },
      ],
    },
    /** Waits for a place in the window: one that it had before is another's by now. */
    queued: {
      entry: 'losePlace',
      always: [
        // An earlier owner's record comes to light.
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
    /** It stays out of rotation, or was refused before the drain; a later run goes on from there. */
    failed: { type: 'final' },
    /** Its traffic state cannot be known or repaired: never guess. */
    needsOperator: { type: 'final' },
    /** Left where it is: interrupted, or owned by another. */
    stopped: { type: 'final' },
  },
})

/** One pod upgrade at one moment: its state in `value`, and what is known in `context`. */
export type PodSnapshot = SnapshotFrom<typeof podUpgradeMachine>
