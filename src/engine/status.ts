import { journalOf } from '../journal/journal.ts'
import { LEDGER_LABEL, type Ledger, type LedgerEntry, type LedgerHeader } from '../journal/ledger.ts'
import type { PodAccount } from '../journal/account.ts'
import { accountsOf } from '../journal/ledger-accounts.ts'
import { requestWords } from '../journal/request-words.ts'
import type { KubeClient } from '../kube/client.ts'
import { listPages } from '../kube/list-pages.ts'
import type { Journal, JournalStep, PodView, ReadJournal } from '../pods/glossary.ts'
import { byUpgradeOrder } from '../pods/heir.ts'
import { podView } from '../pods/view.ts'
import type { WorkloadKind, WorkloadRef } from '../plan/plan.ts'
import type { Clock } from '../ports/clock.ts'
import type { LeaseRecord } from './leases/lease.ts'
import { leaseName, leasePath, leaseRecord } from './leases/lease.ts'
import { listLedgers } from './ledgers/list-ledgers.ts'
import { asItCounts } from './ledgers/late-intents.ts'
import { leftOutEntries } from './ledgers/left-out-entries.ts'
import { isNamedIn } from './ledgers/of-others.ts'
import { openEntries, sinceDrain } from './ledgers/open-entries.ts'
import { orderFor, ordersIn, readOrder } from './orders/order.ts'
import { podsPath } from './pod-store.ts'
import { imageWords } from '../pods/image-words.ts'
import { assertExists } from '../workloads/assert-exists.ts'
import { WorkloadError } from '../workloads/errors.ts'
import { createOwnerLookup } from '../workloads/owner.ts'
import { recordedTargets } from './ledgers/recorded-targets.ts'
import { DETAIL, goneWords, movedWords, names, unreadableWords } from './status-words.ts'

export interface StatusRequest {
  namespace: string
  /** Empty: every workload in the namespace that has a record of sluice. */
  refs: Pick<WorkloadRef, 'kind' | 'name'>[]
}

export interface StatusPorts {
  client: KubeClient
  clock: Clock
}

/** Who owns a workload's upgrades. */
export interface LeaseStatus {
  /** Absent where nobody holds it. */
  holder?: string
  epoch: number
  /** A renewal was seen, or the Lease ran out; absent where neither was waited for. */
  live?: boolean
  /** What somebody has ordered of a run that is open. */
  order?: { order: 'pause' | 'abort'; by: string }
}

/** One run, from its ledger. */
export interface RunStatus {
  id: string
  /** The request in words, such as `app=registry/app:v2`, or `template`. */
  request: string
  /** ISO 8601. */
  startedAt: string
  /** All its pods are closed. */
  finished: boolean
  /** Who has ended it before all its pods were upgraded. */
  abortedBy?: string
  /** What the order on the Lease says of it; one that was given before it began says nothing. */
  ordered?: 'pause' | 'abort'
}

/** One pod with a journal, or a pod that is gone and whose targets are not settled. */
export interface PodStatus {
  uid: string
  name: string
  /** Where its journal stands. */
  state: JournalStep
  run: string
  /** How often it has been drained; null where the pod is gone, and its journal with it, or cannot be read. */
  attempt: number | null
  /** Out of rotation by the journal; null where that cannot be told without asking the load balancer: also of a closed one, which others may have out. */
  out: boolean | null
  /** For a person. */
  detail: string
  /** Present where no run can go on by itself: what to look at. */
  needsOperator?: string
}

/** What sluice has left in the cluster for one workload. */
export interface StatusReport {
  workload: WorkloadRef
  /** Absent where no run has ever owned it. */
  lease?: LeaseStatus
  /** The newest first. */
  runs: RunStatus[]
  pods: PodStatus[]
}

export interface UnreadableRun {
  run: string
  reason: string
  /** The way out, for a person. */
  needsOperator: string
}

export interface Status {
  workloads: StatusReport[]
  /** Runs whose ledger cannot be read: nobody can tell of which workload, and what they have left open for pods that are gone. */
  unreadable: UnreadableRun[]
}

/** Reads the records; writes nothing, and asks no load balancer. */
export async function readStatus({ namespace, refs }: StatusRequest, { client }: StatusPorts): Promise<Status> {
  const [ledgers, pods, leases] = await Promise.all([
    listLedgers(client, namespace),
    listPods(client, namespace),
    listLeases(client, namespace),
  ])
  const readable = ledgers.flatMap((found) => (found.kind === 'read' ? [found.ledger] : []))
  const above = await aboveUnrecorded(readable, pods, client)
  const workloads = refs.length > 0 ? refs : recordedWorkloads(readable, above)
  const reports = workloads.map(({ kind, name }): StatusReport => {
    const own = readable
      .filter(({ header }) => header.workloads.some((one) => one.kind === kind && one.name === name))
      .toSorted((a, b) => (a.header.startedAt < b.header.startedAt ? 1 : -1))
    const lease = leases.get(leaseName({ kind, name }))
    return {
      workload: { kind, name, namespace },
      ...(lease ? { lease: leaseStatus(lease, own) } : {}),
      runs: own.map(({ header }) => ({
        id: header.run,
        request: requestWords(header),
        startedAt: header.startedAt,
        finished: header.finishedAt !== undefined,
        ...(header.aborted ? { abortedBy: header.aborted.by } : {}),
        ...orderedOf(header, lease),
      })),
      pods: [...livePods(pods, own, above, { kind, name }), ...gonePods(pods, own, lease, { kind, name, namespace })],
    }
  })
  // A typo in a name must not read as "nothing is open".
  for (const { workload, lease, runs, pods: open } of reports) {
    if (!lease && runs.length === 0 && open.length === 0) await assertExists(workload, client)
  }
  const unreadable = ledgers.flatMap((one) => (one.kind === 'unreadable' ? [unreadableRun(one, namespace)] : []))
  return { workloads: reports, unreadable }
}

/** No run mends it, and no cleanup removes it: a newer sluice may have written it, and nobody else knows what it has left open. */
function unreadableRun({ run, reason }: Pick<UnreadableRun, 'run' | 'reason'>, namespace: string): UnreadableRun {
  const needsOperator =
    'Where a newer sluice has written it, use that one. Else, with no run at work, look in the load balancers for what it may have left out ' +
    `of rotation, put that right, and remove the record:\n  kubectl -n ${namespace} delete configmap -l ${LEDGER_LABEL}=${run}`
  return { run, reason, needsOperator }
}

function leaseStatus({ transitions, holder, annotations }: LeaseRecord, own: readonly Ledger[]): LeaseStatus {
  const given = ordersIn(readOrder(annotations)).filter(({ runs }) =>
    own.some(({ header: { run, finishedAt } }) => finishedAt === undefined && runs.includes(run)),
  )
  const counts = given.find(({ order }) => order === 'abort') ?? given[0]
  return {
    epoch: transitions,
    ...(holder === '' ? {} : { holder }),
    ...(counts ? { order: { order: counts.order, by: counts.by } } : {}),
  }
}

function orderedOf({ run, finishedAt }: LedgerHeader, lease: LeaseRecord | undefined): Pick<RunStatus, 'ordered'> {
  const given = lease && orderFor(run, [readOrder(lease.annotations)])
  return given && finishedAt === undefined ? { ordered: given.order } : {}
}

async function listPods(client: KubeClient, namespace: string): Promise<PodView[]> {
  const { items } = await listPages({ client, path: podsPath(namespace) })
  return items.map(podView)
}

async function listLeases(client: KubeClient, namespace: string): Promise<Map<string, LeaseRecord>> {
  const { items } = await listPages({ client, path: leasePath(namespace) })
  return new Map(items.map(leaseRecord).map((lease) => [lease.name, lease]))
}

type Ref = StatusRequest['refs'][number]

/**
 * What stands above each pod with a journal that no ledger tells of, by uid. Found by reading: one of a Deployment was told of
 * as its ReplicaSet's, which no command takes, and where the Deployment was asked for, nothing was open.
 */
async function aboveUnrecorded(
  ledgers: readonly Ledger[],
  pods: readonly PodView[],
  client: KubeClient,
): Promise<ReadonlyMap<string, Ref>> {
  const ownershipOf = createOwnerLookup(client)
  const recorded = new Set(ledgers.flatMap(({ entries }) => [...entries.keys()]))
  const above = new Map<string, Ref>()
  for (const pod of pods) {
    const { uid, owner, name } = pod
    if (recorded.has(uid) || journalOf(pod).kind === 'none') continue
    const found = await ownershipOf(pod).catch((error: unknown) => {
      // Who may read the records need not have the right to look at ReplicaSets.
      if (error instanceof WorkloadError && error.kind === 'forbidden') return undefined
      throw error
    })
    const unknown = { kind: (owner?.kind ?? 'Pod') as WorkloadKind, name: owner?.name ?? name }
    above.set(uid, found === undefined ? unknown : found.type === 'workload' ? found.ref : { kind: 'Pod', name })
  }
  return above
}

/** Every workload that a run, or a journal, names; sorted. */
function recordedWorkloads(ledgers: readonly Ledger[], above: ReadonlyMap<string, Ref>): Ref[] {
  const found = new Map<string, Ref>()
  const add = (kind: string, name: string): void => void found.set(`${kind}/${name}`, { kind: kind as WorkloadKind, name })
  for (const { header } of ledgers) for (const { kind, name } of header.workloads) add(kind, name)
  for (const { kind, name } of above.values()) add(kind, name)
  return [...found.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, ref]) => ref)
}

function livePods(
  pods: readonly PodView[],
  ledgers: readonly Ledger[],
  above: ReadonlyMap<string, Ref>,
  { kind, name }: Ref,
): PodStatus[] {
  const isAbove = (ref: Ref | undefined): boolean => ref?.kind === kind && ref.name === name
  const belongs = (pod: PodView): boolean =>
    isAbove(above.get(pod.uid)) ||
    ledgers.some(({ header, entries }) => entries.has(pod.uid) && !isOfAnother(pod, header, { kind, name })) ||
    isAbove(pod.owner === undefined ? { kind: 'Pod', name: pod.name } : (pod.owner as Ref))
  return pods
    .filter(belongs)
    .sort(byUpgradeOrder)
    .flatMap((pod): PodStatus[] => {
      const { uid, name: podName } = pod
      const read = asItCounts(uid, journalOf(pod), ledgers)
      if (read.kind === 'none') return []
      if (read.kind === 'unreadable') {
        const { reason } = read
        const needsOperator = unreadableWords(pod, reason, recordedTargets(uid, ledgers))
        return [{ uid, name: podName, state: 'drain', run: '', attempt: null, out: null, detail: reason, needsOperator }]
      }
      const { step, run, epoch, attempt, targets, rollback } = read.journal
      const back = rollback && `; it failed, and is on its way back to ${imageWords(rollback)}`
      const last = step === 'closed' ? undefined : lastAccount(uid, { run, epoch }, ledgers)
      const failed = last?.outcome === 'failed' ? `; ${last.reason}` : ''
      const detail = DETAIL[step](targets, pod) + (back ?? '') + failed
      const moved = step !== 'closed' && isAbandoned(uid, read, ledgers) ? movedWords(pod, targets) : undefined
      const person = moved ?? (last?.outcome === 'needsOperator' ? (last.instructions ?? last.reason) : undefined)
      return [
        {
          uid,
          name: podName,
          state: step,
          run,
          attempt,
          out: OUT[step],
          detail,
          ...(person === undefined ? {} : { needsOperator: person }),
        },
      ]
    })
}

/** What the process that wrote its record last has said of it in the end. */
function lastAccount(
  uid: string,
  { run, epoch }: Pick<Journal, 'run' | 'epoch'>,
  ledgers: readonly Ledger[],
): PodAccount | undefined {
  const ledger = ledgers.find(({ header }) => header.run === run)
  const entry = ledger?.entries.get(uid)
  const last = ledger && entry && accountsOf(entry, ledger.header).at(-1)
  return last?.epoch === epoch ? last : undefined
}

/** A run may be of several workloads. */
function isOfAnother(pod: Pick<PodView, 'name' | 'owner'>, { workloads }: LedgerHeader, ref: Ref): boolean {
  return !isNamedIn(ref, pod) && workloads.some((one) => isNamedIn(one, pod))
}

/** A run has left it to a person: its entries mean another address than it has. */
function isAbandoned(uid: string, stored: ReadJournal, ledgers: readonly Ledger[]): boolean {
  // Found by reading: the entry was pointed at it, the run brought it home, and was not at its end when another drained it anew.
  return (sinceDrain(stored, ledgers) ?? ledgers)
    .filter(({ header }) => header.finishedAt === undefined)
    .some((ledger) => openEntries(ledger, ledgers).some((entry) => entry.uid === uid && entry.state === 'abandoned'))
}

const OUT: Record<JournalStep, boolean | null> = { drain: null, patched: true, restore: null, closed: null }

/** Pods that are gone while a ledger still has something open for them. */
function gonePods(
  pods: readonly PodView[],
  ledgers: readonly Ledger[],
  lease: LeaseRecord | undefined,
  { namespace, ...ref }: Pick<WorkloadRef, 'kind' | 'name' | 'namespace'>,
): PodStatus[] {
  const alive = new Set(pods.map(({ uid }) => uid))
  // Found by trial: who was at work with it, or had begun to put it back and was killed, goes on by itself, and a person was sent.
  const isOutdated = ({ epoch = 0 }: LedgerEntry, told: PodAccount): boolean =>
    epoch > told.epoch || (lease !== undefined && lease.holder !== '' && lease.transitions > told.epoch)
  return ledgers
    .filter(({ header }) => header.finishedAt === undefined)
    .flatMap((ledger) =>
      [...openEntries(ledger, ledgers), ...leftToAPerson(ledger)]
        .filter(({ uid, targets }) => !alive.has(uid) && targets.length > 0)
        .filter(({ pod, owner }) => !isOfAnother({ name: pod, ...(owner && { owner }) }, ledger.header, ref))
        .map((entry): PodStatus => {
          const { uid, pod, state, targets } = entry
          const last = accountsOf(entry, ledger.header).at(-1)
          // Found by trial: nothing had come in its place in time, or its entry could not be read, and the run ended with 8; by this
          // it was to be gone on with, which ended in the same way.
          const person =
            state === 'abandoned'
              ? goneWords(pod, targets, pods.find(({ name }) => name === pod)?.ip, namespace)
              : last?.outcome === 'needsOperator' && !isOutdated(entry, last)
                ? (last.instructions ?? last.reason)
                : undefined
          return {
            uid,
            name: pod,
            state: state === 'restore' ? 'restore' : 'drain',
            run: ledger.header.run,
            attempt: null,
            out: state === 'abandoned' || (person !== undefined && last?.out) ? true : null,
            detail: `the pod is gone; ${names(targets)} may be drained for it`,
            ...(person === undefined ? {} : { needsOperator: person }),
          }
        }),
    )
}

/**
 * Left out, since nothing was to come in their place, until something came all the same. Found by a new user: the run had ended with 8
 * for it, and of that here was nothing.
 */
function leftToAPerson(ledger: Ledger): LedgerEntry[] {
  return leftOutEntries(ledger).filter((entry) => accountsOf(entry, ledger.header).at(-1)?.outcome === 'needsOperator')
}
