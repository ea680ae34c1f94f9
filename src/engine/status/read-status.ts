import { journalOf } from '../../journal/journal.ts'
import { LEDGER_LABEL, type Ledger, type LedgerHeader } from '../../journal/ledger.ts'
import { requestWords } from '../../journal/request-words.ts'
import type { KubeClient } from '../../kube/client.ts'
import { listPages } from '../../kube/list-pages.ts'
import type { PodView } from '../../pods/glossary.ts'
import { podView } from '../../pods/view.ts'
import type { WorkloadKind, WorkloadRef } from '../../plan/plan.ts'
import type { Clock } from '../../ports/clock.ts'
import { assertExists } from '../../workloads/assert-exists.ts'
import { WorkloadError } from '../../workloads/errors.ts'
import { createOwnerLookup } from '../../workloads/owner.ts'
import type { LeaseRecord } from '../leases/lease.ts'
import { leaseName, leasePath, leaseRecord } from '../leases/lease.ts'
import { listLedgers } from '../ledgers/list-ledgers.ts'
import { orderFor, ordersIn, readOrder } from '../orders/order.ts'
import { podsPath } from '../../observation/pod-store.ts'
import { gonePods } from './gone-pods.ts'
import { livePods } from './live-pods.ts'
import type { LeaseStatus, RunStatus, Status, StatusReport, UnreadableRun } from './status.ts'

export interface StatusRequest {
  namespace: string
  /** Empty: every workload in the namespace that has a record of sluice. */
  refs: Pick<WorkloadRef, 'kind' | 'name'>[]
}

export interface StatusPorts {
  client: KubeClient
  clock: Clock
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
