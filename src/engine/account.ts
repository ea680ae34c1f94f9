import type { ContainerRestart, PodAccount, ProcessAccount, Warning } from '../journal/account.ts'
import { epochsOf, processEpochOf, shortId } from '../journal/account.ts'
import type { BaselineContainer, PodView } from '../pods/glossary.ts'
import type { PodState, RunEvent, RunResult } from './events.ts'

/** The work of this process in a run, folded from its events, for the report and the ledger. */
export interface Account {
  note(event: RunEvent): void
  /** The accounts of the pods by uid. The current phase of an unfinished pod lasts until `atMs`, on the clock of the events. */
  pods(atMs: number): Map<string, PodAccount>
  process(ending: { by: string; endedAt: string } & Pick<RunResult, 'outcome' | 'reason'>): ProcessAccount
}

const ENDS: ReadonlySet<PodState> = new Set(['done', 'failed', 'needsOperator'])

interface Entry {
  account: PodAccount
  /** The beginning of the current phase, on the clock of the events. Undefined once the pod has ended. */
  since: number | undefined
  beganAtMs: number
}

export function createAccount(): Account {
  const entries = new Map<string, Entry>()
  const warnings: Warning[] = []
  let plan: Pick<ProcessAccount, 'window' | 'guarantees'> = { window: 0, guarantees: [] }
  let start: Pick<ProcessAccount, 'epoch' | 'resumed'> = { epoch: 0, resumed: false }
  /**
   * The wall time of the zero of the event clock. All wall times derive from it, so that a change of the wall clock cannot disturb them.
   */
  let zeroAtMs: number | undefined

  function entryOf(uid: string, atMs: number): Entry {
    const known = entries.get(uid)
    if (known) return known
    const account: PodAccount = {
      epoch: start.epoch,
      startedAtMs: zeroAtMs! + atMs,
      phases: [],
      effects: [],
      restarts: [],
    }
    const entry: Entry = { account, since: undefined, beganAtMs: atMs }
    entries.set(uid, entry)
    return entry
  }

  function note(event: RunEvent): void {
    zeroAtMs ??= Date.parse(event.wallAt) - event.atMs
    switch (event.type) {
      case 'planned':
        plan = {
          window: event.plan.window,
          guarantees: event.plan.guarantees,
        }
        return
      case 'started':
        start = { epoch: event.epoch, resumed: event.resumed }
        return
      case 'podState': {
        const entry = entryOf(event.uid, event.atMs)
        endPhase(entry, event.atMs)
        if (ENDS.has(event.to)) return
        entry.since = event.atMs
        entry.account.phases.push({ state: event.to, ms: 0, ...(event.waiting && { waiting: event.waiting }) })
        return
      }
      case 'podDetail': {
        const phase = entryOf(event.uid, event.atMs).account.phases.at(-1)
        if (phase?.state === event.state) phase.waiting = event.waiting
        return
      }
      case 'effect': {
        const { account, beganAtMs } = entryOf(event.uid, event.atMs)
        const { loadBalancer, target, effect, operation, outcome, batch, durationMs, said, reason } = event
        account.effects.push({
          afterMs: event.atMs - beganAtMs,
          loadBalancer,
          target,
          effect,
          operation,
          outcome,
          batch,
          ...(durationMs === undefined ? {} : { durationMs }),
          ...(said === undefined ? {} : { said }),
          ...(reason === undefined ? {} : { reason }),
        })
        return
      }
      case 'podFinished': {
        const { uid, outcome, reason, deadline, proof, traffic, advice, before, restarts } = event.result
        const entry = entryOf(uid, event.atMs)
        endPhase(entry, event.atMs)
        Object.assign(entry.account, {
          outcome,
          reason: before && outcome === 'settled' ? { code: 'several', reasons: [before.reason, reason] } : reason,
          out: traffic === 'out',
          restarts: restarts ?? [],
          ...(deadline === undefined ? {} : { deadline }),
          ...(proof === undefined ? {} : { proof }),
          ...(advice.length === 0 ? {} : { advice }),
        })
        return
      }
      case 'warning':
        warnings.push({ ...(event.pod === undefined ? {} : { pod: event.pod }), reason: event.reason })
        return
      default:
    }
  }

  return {
    note,
    pods(atMs) {
      return new Map(
        Array.from(entries, ([uid, { account, since }]) => {
          const [last, ...before] = account.phases.toReversed()
          if (since === undefined || last === undefined) return [uid, account]
          return [uid, { ...account, phases: [...before.toReversed(), { ...last, ms: Math.max(0, atMs - since) }] }]
        }),
      )
    },
    process: ({ by, endedAt, outcome, reason }) => ({
      by,
      ...start,
      startedAt: new Date(zeroAtMs ?? 0).toISOString(),
      endedAt,
      outcome,
      reason,
      ...plan,
      warnings,
    }),
  }
}

/**
 * Gives each pod in the ledger the epoch of the Lease of its own workload. The journal of the pod has that epoch, and `sluice status`
 * compares the two. The largest epoch of a run of several workloads would hide pods that need an operator.
 */
export function withLeaseEpochs(account: Account, epochOf: (uid: string) => number): Account {
  return {
    ...account,
    pods: (atMs) =>
      new Map(
        Array.from(account.pods(atMs), ([uid, told]) => [uid, { ...told, ...epochsOf(epochOf(uid), processEpochOf(told)) }]),
      ),
  }
}

function endPhase(entry: Entry, atMs: number): void {
  const phase = entry.account.phases.at(-1)
  if (entry.since === undefined || phase === undefined) return
  phase.ms = atMs - entry.since
  entry.since = undefined
}

/** Lists the patched containers, with their images and ids before and now. */
export function restartsOf(baseline: readonly BaselineContainer[], { containers }: PodView): ContainerRestart[] {
  return baseline.flatMap((before): ContainerRestart[] => {
    const now = containers.find(({ name }) => name === before.name)
    if (now === undefined) return []
    return [
      {
        container: before.name,
        image: { from: before.image, to: now.image },
        containerId: ids(before.containerId, now.containerId),
        imageId: ids(before.imageId, now.imageId),
      },
    ]
  })
}

function ids(from: string | undefined, to: string | undefined): { from?: string; to?: string } {
  const [shortFrom, shortTo] = [shortId(from), shortId(to)]
  return { ...(shortFrom === undefined ? {} : { from: shortFrom }), ...(shortTo === undefined ? {} : { to: shortTo }) }
}
