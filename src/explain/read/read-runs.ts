import { entriesOf, STANDING } from '../../engine/status/pod-advice.ts'
import { listLedgers } from '../../engine/ledgers/list-ledgers.ts'
import { readStatus } from '../../engine/status/read-status.ts'
import type { PodStatus, Status, StatusReport } from '../../engine/status/status.ts'
import { journalOf } from '../../journal/journal.ts'
import type { ReadLedger } from '../../journal/ledger.ts'
import { accountsOf } from '../../journal/ledger-accounts.ts'
import type { PodView } from '../../pods/glossary.ts'
import { displayName } from '../../pods/workload-id.ts'
import type { RunFacts } from '../observed.ts'
import type { Attempts } from './attempts.ts'
import type { ExplainPorts } from './request.ts'

/**
 * Finds the run of each pod by its UID, as `sluice status` does. Where the records of runs cannot be read,
 * the journal of the pod tells what it can.
 */
export async function readRuns(
  pods: readonly PodView[],
  namespace: string,
  { client, kinds, clock }: Pick<ExplainPorts, 'client' | 'kinds' | 'clock'>,
  attempts: Attempts,
): Promise<Map<string, RunFacts>> {
  const records = await attempts.try({ what: 'records', decides: false }, async () => ({
    status: await readStatus({ namespace, refs: [] }, { client, kinds, clock }),
    ledgers: await listLedgers(client, namespace),
  }))
  for (const { run, problem } of records?.status.unreadable ?? [])
    attempts.unread.push({ what: 'records', name: run, decides: false, because: problem })
  const runs = new Map<string, RunFacts>()
  for (const pod of pods) {
    const facts = records === undefined ? byJournal(pod) : byStatus(pod, records.status)
    if (facts !== undefined) runs.set(pod.uid, { ...facts, targets: withDrains(facts, pod, records?.ledgers ?? []) })
  }
  return runs
}

/** Adds the time of each drain, where the process that last wrote the journal has recorded it. The process does so at its end. */
function withDrains({ run, targets }: RunFacts, pod: PodView, ledgers: readonly ReadLedger[]): RunFacts['targets'] {
  const stored = journalOf(pod)
  const found = ledgers.find((one) => one.kind === 'read' && one.ledger.header.run === run)
  if (stored.kind !== 'read' || found?.kind !== 'read') return targets
  const { header, entries } = found.ledger
  const entry = entries.get(pod.uid)
  const account = entry && accountsOf(entry, header).findLast(({ epoch }) => epoch === stored.journal.epoch)
  if (account === undefined) return targets
  return targets.map((one) => {
    const last = account.effects.findLast(
      ({ loadBalancer, target }) => loadBalancer === one.loadBalancer && target === one.target,
    )
    const isDrained = last?.effect === 'drain' && (last.outcome === 'applied' || last.outcome === 'confirmed')
    return isDrained ? { ...one, drainedAt: new Date(account.startedAtMs + last.afterMs).toISOString() } : one
  })
}

function byStatus(pod: PodView, { workloads }: Status): RunFacts | undefined {
  const all = workloads.flatMap((report) => report.pods.map((one) => ({ report, one })))
  const open = all.filter(({ one }) => one.state !== 'closed')
  // A pod that replaced another takes over the entries that were drained for the former pod.
  const found = open.find(({ one }) => one.uid === pod.uid) ?? open.find(({ one }) => one.name === pod.name)
  if (found === undefined) return undefined
  const { one, report } = found
  return { ...factsOf(one, report), targets: one.uid === pod.uid ? targetsOf(pod) : formerTargets(one) }
}

function factsOf(
  { run, state, out, reasons, needsOperator }: PodStatus,
  { workload, lease, runs }: StatusReport,
): Omit<RunFacts, 'targets'> {
  const startedAt = runs.find(({ id }) => id === run)?.startedAt
  return {
    run,
    step: state,
    workload: displayName(workload),
    ...(lease?.holder === undefined ? {} : { holder: lease.holder }),
    ...(startedAt === undefined ? {} : { startedAt }),
    out,
    because: reasons[0] ?? { code: 'nothing-open' },
    needsOperator: needsOperator !== undefined,
  }
}

function byJournal(pod: PodView): RunFacts | undefined {
  const stored = journalOf(pod)
  if (stored.kind === 'none' || (stored.kind === 'read' && stored.journal.step === 'closed')) return undefined
  if (stored.kind === 'unreadable')
    return { run: '', step: 'drain', out: null, because: stored.problem, needsOperator: true, targets: [] }
  const { run, step, targets, undrained } = stored.journal
  return {
    run,
    step,
    out: undrained ? false : step === 'patched' ? true : null,
    because: undrained
      ? { code: 'changes-without-drain', containers: undrained, ready: pod.ready }
      : STANDING[step](entriesOf(targets), pod),
    needsOperator: false,
    targets: targetsOf(pod),
  }
}

function targetsOf(pod: PodView): RunFacts['targets'] {
  const stored = journalOf(pod)
  return stored.kind === 'read' ? stored.journal.targets : []
}

function formerTargets({ reasons }: PodStatus): RunFacts['targets'] {
  return reasons.flatMap((reason) =>
    reason.code === 'gone-and-drained' ? reason.entries.map((entry) => ({ ...entry, untouched: false })) : [],
  )
}
