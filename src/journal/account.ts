import { z } from 'zod'
import type { Advice } from '../reasons/advice.ts'
import type { Reason } from '../reasons/reason.ts'
import { StoredAdvice, storedReason, StoredReason, storedText } from './stored-reason.ts'

/*
 * What a process tells of its part in a run, for the report; kept in the ledger, beside what a later run needs. No run
 * decides by it: one that cannot be read is left out, and never stands in the way of its ledger.
 */

const VERSION = 1
/** The outcome of `sluice resolve` for the run: a person has said where the traffic of a pod is. */
export const RESOLVED = 'resolved'

/** What a process has warned of. */
export interface Warning {
  pod?: string
  reason: Reason
}

/** One process's part in a run; also that of a `sluice resolve`, which touches no pod. */
export interface ProcessAccount {
  /** The name of the process, as its Lease has it. */
  by: string
  epoch: number
  /** It went on with a run that another process had begun. */
  resumed: boolean
  /** Wall time, ISO 8601. */
  startedAt: string
  endedAt: string
  /** A RunOutcome, or RESOLVED. */
  outcome: string
  reason: Reason
  /** Pods that may be out of rotation at once. */
  window: number
  guarantees: { loadBalancer: string; adapter: string; level: string }[]
  warnings: Warning[]
  /** Of processes before it, all in all: accounts that the ledger has not kept. */
  lost?: number
  /** Pods of which the ledger had no room for what this process has told, or has given up for it what those before had. */
  withoutRoom?: number
}

/** One process's part in the upgrade of one pod. */
export interface PodAccount {
  /** Of the pod's own Lease, as its journal has it. */
  epoch: number
  /** Of the process that has told it, where that is another than the run in whose ledger it stands. */
  run?: string
  /** Of the pod, all in all until then: accounts that the ledger has not kept. */
  lost?: LostAccounts
  /** What the account of its process has, where that is another: of a run of several workloads the largest. */
  processEpoch?: number
  /** Wall time in milliseconds since 1970, of the first phase. */
  startedAtMs: number
  /** One after the other, without a pause. */
  phases: AccountPhase[]
  effects: AccountEffect[]
  restarts: ContainerRestart[]
  /** A PodOutcome, or RESOLVED; absent where the process ended before the pod did. */
  outcome?: string
  reason?: Reason
  deadline?: string
  proof?: string
  out?: boolean
  /** What a person was told to look at and to run. */
  advice?: Advice[]
}

/** `doing`: of processes that did something with the pod. `telling`: of those that only told how it stood. */
export interface LostAccounts {
  doing: number
  telling: number
}

export interface AccountPhase {
  /** A PodState. */
  state: string
  ms: number
  /** The last thing that the pod waited for. */
  waiting?: Reason
}

export interface AccountEffect {
  /** Since `startedAtMs`. */
  afterMs: number
  loadBalancer: string
  target: string
  effect: 'drain' | 'restore'
  operation: string
  outcome: 'applied' | 'ambiguous' | 'failed' | 'confirmed' | 'pending'
  /** Targets in the same call. */
  batch: number
  /** Absent where this process has not asked for it. */
  durationMs?: number
  /** In the words of the adapter. */
  said?: string
  reason?: Reason
}

/** One container before the patch and after it; ids as a runtime shows them, the first digits of each. */
export interface ContainerRestart {
  container: string
  image: { from: string; to: string }
  containerId: { from?: string; to?: string }
  imageId: { from?: string; to?: string }
}

const EFFECTS = ['drain', 'restore'] as const
const OUTCOMES = ['applied', 'ambiguous', 'failed', 'confirmed', 'pending'] as const
/** States are written as their place in this list: it only ever grows, at its end. */
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

/** Characters of the advice on one pod: commands are kept whole, or not at all. */
const LONGEST_ADVICE = 1_200
/** A pod that went to and fro keeps the first and the last of its phases and calls. */
const KEPT_AT_EACH_END = 15
const KEPT_WARNINGS = 20
/** Bytes of a reason: eight processes, and the pods of a ConfigMap with what runs need, have room in 1 MiB. */
const MOST_OF_PROCESS = 4_000
const MOST_OF_WARNING = 600
const MOST_OF_POD = 1_500
/** What was waited for, or shows the outcome of a call: one pod has up to sixty of them. */
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
/** By single letters, and lists in place of objects: about 0.4 KB a pod, of which a ConfigMap holds a thousand. */
const Pod = z.object({
  v: z.literal(VERSION),
  e: z.number(),
  /** The run, where it is another's. */
  n: z.string().optional(),
  /** Lost: doing, telling. */
  l: z.tuple([z.number(), z.number()]).optional(),
  /** Of its process, where that is another. */
  m: z.number().optional(),
  t: z.number(),
  /** State, milliseconds, what was waited for. */
  p: z.array(z.tuple([z.union([z.number().int(), z.string()]), z.number()]).rest(StoredReason)),
  /** After, load balancer and target (or the place of the two in the entry), effect, outcome, batch, operation, duration, and more. */
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
  /** Container, images and ids before and after; null for an image that the ledger has elsewhere. */
  c: z.array(z.tuple([z.string(), text, text, text, text, text, text])),
  o: z.string().optional(),
  r: StoredReason.optional(),
  d: z.string().optional(),
  w: z.string().optional(),
  u: z.boolean().optional(),
  i: z.array(StoredAdvice).optional(),
})

/** What the ledger says of a pod already, and an account need not repeat. */
export interface AccountContext {
  targets: readonly { loadBalancer: string; target: string }[]
  /** By container. */
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

/** Undefined where it cannot be read. */
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

/** Of most pods: an account that does not give the reason of an upgrade means this one. */
const USUAL: Reason = { code: 'upgraded', rotation: 'in' }

function isUsual({ outcome, reason }: PodAccount): boolean {
  return outcome === 'upgraded' && reason?.code === 'upgraded' && reason.rotation === 'in'
}

/** Undefined where it cannot be read. */
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

/** Such as `77135f95c0a1` of `containerd://77135f95c0a1…`: what `crictl ps` shows. */
export function shortId(id: string | undefined): string | undefined {
  return id === undefined ? undefined : id.slice(Math.max(id.lastIndexOf('/'), id.lastIndexOf(':')) + 1).slice(0, ID_DIGITS)
}

function fromTo(from: string | null | undefined, to: string | null | undefined): { from?: string; to?: string } {
  return { ...(from == null ? {} : { from }), ...(to == null ? {} : { to }) }
}

/** Of a pod, by that of its own Lease and that of its process. */
export function epochsOf(epoch: number, processEpoch: number): Pick<PodAccount, 'epoch' | 'processEpoch'> {
  return { epoch, ...(processEpoch === epoch ? {} : { processEpoch }) }
}

/** By which an account of a pod is told to be of a process. */
export function processEpochOf({ epoch, processEpoch }: Pick<PodAccount, 'epoch' | 'processEpoch'>): number {
  return processEpoch ?? epoch
}

/** `join` makes one of those in between, where they cannot be left out. */
function endsOf<T>(all: readonly T[], join?: (between: readonly T[]) => T): readonly T[] {
  if (all.length <= 2 * KEPT_AT_EACH_END + 1) return all
  const between = all.slice(KEPT_AT_EACH_END, -KEPT_AT_EACH_END)
  return [...all.slice(0, KEPT_AT_EACH_END), ...(join ? [join(between)] : []), ...all.slice(-KEPT_AT_EACH_END)]
}

function joined(between: readonly AccountPhase[]): AccountPhase {
  const ms = between.reduce((sum, phase) => sum + phase.ms, 0)
  return { state: between[0]!.state, ms, waiting: { code: 'phases-joined', phases: between.length } }
}
