import { z } from 'zod'
import type { Advice } from '../reasons/advice.ts'
import type { Reason } from '../reasons/reason.ts'
import { StoredAdvice, storedReason, StoredReason, storedText } from './stored-reason.ts'

/*
 * An account is the part of one process in a run, for the report. The ledger keeps accounts beside the data that runs need. Runs decide
 * nothing by an account: an account that cannot be read is left out, and never makes its ledger unreadable.
 */

const VERSION = 1
/** The outcome of `sluice resolve`, with which an operator states where the traffic of a pod is. */
export const RESOLVED = 'resolved'

/** A warning that a process gave. */
export interface Warning {
  pod?: string
  reason: Reason
}

/** The part of one process in a run. `sluice resolve` writes an account too, and touches no pod. */
export interface ProcessAccount {
  /** The name of the process, as in its Lease. */
  by: string
  epoch: number
  /** True where the process continued a run that another process had begun. */
  resumed: boolean
  /** Wall-clock time, ISO 8601. */
  startedAt: string
  endedAt: string
  /** A RunOutcome, or RESOLVED. */
  outcome: string
  reason: Reason
  /** The number of pods that may be out of rotation at once. */
  window: number
  guarantees: { loadBalancer: string; adapter: string; level: string }[]
  warnings: Warning[]
  /** The total number of accounts of earlier processes that the ledger has not kept. */
  lost?: number
  /**
   * The number of pods whose accounts were lost for lack of room: the account of this process, or earlier accounts that made room for
   * it.
   */
  withoutRoom?: number
}

/** The part of one process in the upgrade of one pod. */
export interface PodAccount {
  /** The epoch of the pod's own Lease, as in the journal of the pod. */
  epoch: number
  /** The run of the process, where it differs from the run of the ledger. */
  run?: string
  /** The total number of earlier accounts of the pod that the ledger has not kept. */
  lost?: LostAccounts
  /** The epoch of the process account, where it differs from `epoch`. A run of several workloads has the largest of their epochs. */
  processEpoch?: number
  /** The start of the first phase, in wall-clock milliseconds since 1970. */
  startedAtMs: number
  /** The phases in order, without a pause between them. */
  phases: AccountPhase[]
  effects: AccountEffect[]
  restarts: ContainerRestart[]
  /** A PodOutcome, or RESOLVED. Absent where the process ended before the work on the pod did. */
  outcome?: string
  reason?: Reason
  deadline?: string
  proof?: string
  out?: boolean
  /** The checks and commands that the operator was given. */
  advice?: Advice[]
}

/** `doing` counts accounts of processes that acted on the pod; `telling` counts accounts that only reported its state. */
export interface LostAccounts {
  doing: number
  telling: number
}

export interface AccountPhase {
  /** A PodState. */
  state: string
  ms: number
  /** The last reason for which the pod waited. */
  waiting?: Reason
}

export interface AccountEffect {
  /** Milliseconds since `startedAtMs`. */
  afterMs: number
  loadBalancer: string
  target: string
  effect: 'drain' | 'restore'
  operation: string
  outcome: 'applied' | 'ambiguous' | 'failed' | 'confirmed' | 'pending'
  /** The number of targets in the same call. */
  batch: number
  /** Absent where this process did not make the call. */
  durationMs?: number
  /** The message of the adapter. */
  said?: string
  reason?: Reason
}

/** One container before and after the patch. The ids are their first digits, as a runtime shows them. */
export interface ContainerRestart {
  container: string
  image: { from: string; to: string }
  containerId: { from?: string; to?: string }
  imageId: { from?: string; to?: string }
}

const EFFECTS = ['drain', 'restore'] as const
const OUTCOMES = ['applied', 'ambiguous', 'failed', 'confirmed', 'pending'] as const
/** The ledger stores a state as its index in this list. The list only grows, at its end. */
const STATES = [
  'deriving',
  'queued',
  'claiming',
  'checking',
  'draining',
  'emptying',
  'patching',
  'rollingBack',
  'restarting',
  'warming',
  'restoring',
  'verifying',
  'readmitting',
  'settling',
  'closing',
]

/** The maximum number of characters of the advice on one pod. Longer advice is left out, since a shortened command is another command. */
const LONGEST_ADVICE = 1_200
/** A pod with many phases or calls keeps the first and the last of each. */
const KEPT_AT_EACH_END = 15
const KEPT_WARNINGS = 20
/**
 * The maximum size of a reason, in bytes. The limits leave room in 1 MiB for eight processes, and for the pods of a ConfigMap with the
 * data that runs need.
 */
const MOST_OF_PROCESS = 4_000
const MOST_OF_WARNING = 600
const MOST_OF_POD = 1_500
/** The limit for the reason of a wait or of a call. One pod has up to sixty of them. */
const MOST_OF_STEP = 600

const Process = z.object({
  v: z.literal(VERSION),
  by: z.string(),
  epoch: z.number(),
  resumed: z.boolean(),
  startedAt: z.string(),
  endedAt: z.string(),
  outcome: z.string(),
  reason: StoredReason,
  window: z.number(),
  guarantees: z.array(z.object({ loadBalancer: z.string(), adapter: z.string(), level: z.string() })),
  warnings: z.array(z.object({ pod: z.string().exactOptional(), reason: StoredReason })),
  lost: z.number().exactOptional(),
  withoutRoom: z.number().exactOptional(),
})

const text = z.string().nullish()
/** Single letters, and lists in place of objects, keep an account at about 0.4 KB. A ConfigMap holds a thousand accounts. */
const Pod = z.object({
  v: z.literal(VERSION),
  e: z.number(),
  /** The run, where it differs from the run of the ledger. */
  n: z.string().optional(),
  /** The lost accounts: `doing`, `telling`. */
  l: z.tuple([z.number(), z.number()]).optional(),
  /** The epoch of the process, where it differs from `e`. */
  m: z.number().optional(),
  t: z.number(),
  /** The phases: state, milliseconds, reason of the wait. */
  p: z.array(z.tuple([z.union([z.number().int(), z.string()]), z.number()]).rest(StoredReason)),
  /**
   * The effects: milliseconds, load balancer and target (or the index of both in the entry), effect, outcome, batch, operation,
   * duration, and more.
   */
  f: z.array(
    z
      .tuple([
        z.number(),
        z.union([z.number().int(), z.tuple([z.string(), z.string()])]),
        z.number().int(),
        z.number().int(),
        z.number(),
        z.string(),
        z.number().nullable(),
      ])
      .rest(z.object({ said: z.string().exactOptional(), reason: StoredReason.exactOptional() })),
  ),
  /**
   * The restarts: container, then images, container ids and image ids before and after. Null stands for an image that the ledger has
   * elsewhere.
   */
  c: z.array(z.tuple([z.string(), text, text, text, text, text, text])),
  o: z.string().optional(),
  r: StoredReason.optional(),
  d: z.string().optional(),
  w: z.string().optional(),
  u: z.boolean().optional(),
  i: z.array(StoredAdvice).optional(),
})

/** The parts of the ledger that an account of a pod need not repeat. */
export interface AccountContext {
  targets: readonly { loadBalancer: string; target: string }[]
  /** Images by container. */
  before: ReadonlyMap<string, string>
  after: ReadonlyMap<string, string>
}

export function writeProcessAccount(account: ProcessAccount): unknown {
  const reason = storedReason(account.reason, MOST_OF_PROCESS)
  const warnings = account.warnings
    .slice(0, KEPT_WARNINGS)
    .map((warning) => ({ ...warning, reason: storedReason(warning.reason, MOST_OF_WARNING) }))
  return { v: VERSION, ...account, reason, warnings } satisfies z.input<typeof Process>
}

/** Returns undefined for an account that cannot be read. */
export function readProcessAccount(value: unknown): ProcessAccount | undefined {
  const parsed = Process.safeParse(value)
  if (!parsed.success) return undefined
  const { v: _, ...account } = parsed.data
  return account
}

export function writePodAccount(account: PodAccount, { targets, before, after }: AccountContext): unknown {
  const { outcome, reason, deadline, proof, out, advice = [], processEpoch, run, lost } = account
  const isPlain = outcome === 'upgraded'
  return {
    v: VERSION,
    e: account.epoch,
    ...(run === undefined ? {} : { n: run }),
    ...(lost === undefined ? {} : { l: [lost.doing, lost.telling] as [number, number] }),
    ...(processEpoch === undefined ? {} : { m: processEpoch }),
    t: account.startedAtMs,
    p: endsOf(account.phases, joined).map(({ state, ms, waiting }): z.input<typeof Pod>['p'][number] => {
      const place = STATES.indexOf(state)
      const isTold = waiting !== undefined && (state === 'emptying' || !isPlain)
      return [place === -1 ? state : place, ms, ...(isTold ? [storedReason(waiting, MOST_OF_STEP)] : [])]
    }),
    f: endsOf(account.effects).map((effect): z.input<typeof Pod>['f'][number] => {
      const { loadBalancer, target, said, reason: because } = effect
      const more = {
        ...(said === undefined ? {} : { said: storedText(said) }),
        ...(because === undefined ? {} : { reason: storedReason(because, MOST_OF_STEP) }),
      }
      const place = targets.findIndex((one) => one.loadBalancer === loadBalancer && one.target === target)
      return [
        effect.afterMs,
        place === -1 ? [loadBalancer, target] : place,
        EFFECTS.indexOf(effect.effect),
        OUTCOMES.indexOf(effect.outcome),
        effect.batch,
        effect.operation,
        effect.durationMs ?? null,
        ...(Object.keys(more).length === 0 ? [] : [more]),
      ]
    }),
    c: account.restarts.map(({ container, image, containerId, imageId }) => [
      container,
      image.from === before.get(container) ? null : image.from,
      image.to === after.get(container) ? null : image.to,
      containerId.from ?? null,
      containerId.to ?? null,
      imageId.from ?? null,
      imageId.to ?? null,
    ]),
    ...(outcome === undefined ? {} : { o: outcome }),
    ...(reason === undefined || isUsual(account) ? {} : { r: storedReason(reason, MOST_OF_POD) }),
    ...(deadline === undefined ? {} : { d: deadline }),
    ...(proof === undefined ? {} : { w: proof }),
    ...(out === true ? { u: true } : {}),
    ...(advice.length === 0 || JSON.stringify(advice).length > LONGEST_ADVICE ? {} : { i: advice }),
  } satisfies z.input<typeof Pod>
}

/** The reason of most upgrades. An account of an upgrade without a reason means this one. */
const USUAL: Reason = { code: 'upgraded', rotation: 'in' }

function isUsual({ outcome, reason }: PodAccount): boolean {
  return outcome === 'upgraded' && reason?.code === 'upgraded' && reason.rotation === 'in'
}

/** Returns undefined for an account that cannot be read. */
export function readPodAccount(value: unknown, { targets, before, after }: AccountContext): PodAccount | undefined {
  const parsed = Pod.safeParse(value)
  if (!parsed.success) return undefined
  const { e, n, l, m, t, p, f, c, o, r, d, w, u, i } = parsed.data
  return {
    epoch: e,
    ...(n === undefined ? {} : { run: n }),
    ...(l === undefined ? {} : { lost: { doing: l[0], telling: l[1] } }),
    ...(m === undefined ? {} : { processEpoch: m }),
    startedAtMs: t,
    phases: p.map(([state, ms, waiting]) => ({
      state: typeof state === 'string' ? state : (STATES[state] ?? 'unknown'),
      ms,
      ...(waiting === undefined ? {} : { waiting }),
    })),
    effects: f.map(([afterMs, place, effect, outcome, batch, operation, durationMs, more]) => {
      const [loadBalancer, target] =
        typeof place === 'number' ? [targets[place]?.loadBalancer ?? '', targets[place]?.target ?? ''] : place
      return {
        afterMs,
        loadBalancer,
        target,
        effect: EFFECTS[effect] ?? 'drain',
        operation,
        outcome: OUTCOMES[outcome] ?? 'ambiguous',
        batch,
        ...(durationMs === null ? {} : { durationMs }),
        ...more,
      }
    }),
    restarts: c.map(([container, from, to, idFrom, idTo, imageIdFrom, imageIdTo]) => ({
      container,
      image: { from: from ?? before.get(container) ?? '', to: to ?? after.get(container) ?? '' },
      containerId: fromTo(idFrom, idTo),
      imageId: fromTo(imageIdFrom, imageIdTo),
    })),
    ...(o === undefined ? {} : { outcome: o }),
    ...(r === undefined ? (o === 'upgraded' ? { reason: USUAL } : {}) : { reason: r }),
    ...(d === undefined ? {} : { deadline: d }),
    ...(w === undefined ? {} : { proof: w }),
    ...(u === undefined ? {} : { out: u }),
    ...(i === undefined ? {} : { advice: i }),
  }
}

const ID_DIGITS = 12

/** Shortens `containerd://77135f95c0a1…` to `77135f95c0a1`, as `crictl ps` shows it. */
export function shortId(id: string | undefined): string | undefined {
  return id === undefined ? undefined : id.slice(Math.max(id.lastIndexOf('/'), id.lastIndexOf(':')) + 1).slice(0, ID_DIGITS)
}

function fromTo(from: string | null | undefined, to: string | null | undefined): { from?: string; to?: string } {
  return { ...(from == null ? {} : { from }), ...(to == null ? {} : { to }) }
}

/** Leaves out the epoch of the process where it equals the epoch of the pod's own Lease. */
export function epochsOf(epoch: number, processEpoch: number): Pick<PodAccount, 'epoch' | 'processEpoch'> {
  return { epoch, ...(processEpoch === epoch ? {} : { processEpoch }) }
}

/** Returns the epoch that tells which process an account of a pod belongs to. */
export function processEpochOf({ epoch, processEpoch }: Pick<PodAccount, 'epoch' | 'processEpoch'>): number {
  return processEpoch ?? epoch
}

/** Keeps both ends of a long list. `join` replaces the entries in between with one entry, where they cannot be left out. */
function endsOf<T>(all: readonly T[], join?: (between: readonly T[]) => T): readonly T[] {
  if (all.length <= 2 * KEPT_AT_EACH_END + 1) return all
  const between = all.slice(KEPT_AT_EACH_END, -KEPT_AT_EACH_END)
  return [...all.slice(0, KEPT_AT_EACH_END), ...(join ? [join(between)] : []), ...all.slice(-KEPT_AT_EACH_END)]
}

function joined(between: readonly AccountPhase[]): AccountPhase {
  const ms = between.reduce((sum, phase) => sum + phase.ms, 0)
  return { state: between[0]!.state, ms, waiting: { code: 'phases-joined', phases: between.length } }
}
