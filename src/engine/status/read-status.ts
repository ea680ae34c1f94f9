import type { Advice } from '../../reasons/advice.ts'
import type { RecordProblem } from '../../reasons/record-reasons.ts'
import { journalOf } from '../../journal/journal.ts'
import { LEDGER_LABEL, type Ledger, type LedgerHeader } from '../../journal/ledger.ts'
import type { KubeClient } from '../../kube/client.ts'
import { listPages } from '../../kube/list-pages.ts'
import type { PodView } from '../../pods/glossary.ts'
import { podView } from '../../pods/view.ts'
import { idOf, ownerId, type WorkloadId } from '../../pods/workload-id.ts'
import type { Clock } from '../../ports/clock.ts'
import { assertExists } from '../../workloads/assert-exists.ts'
import { WorkloadError } from '../../workloads/errors.ts'
import { KINDS } from '../../workloads/kinds/index.ts'
import type { Kinds } from '../../workloads/kinds/kinds.ts'
import { podId } from '../../workloads/kinds/pod.ts'
import { refOf } from '../../workloads/kinds/ref.ts'
import { createOwnerLookup } from '../../workloads/owner.ts'
import type { LeaseRecord } from '../../leases/lease.ts'
import { leaseName } from '../leases/lease-name.ts'
import { leasePath, leaseRecord } from '../../leases/lease.ts'
import { isNamedBy } from '../ledgers/is-named-by.ts'
import { listLedgers } from '../ledgers/list-ledgers.ts'
import { orderFor, ordersIn, readOrder } from '../orders/order.ts'
import { podsPath } from '../../observation/pod-store.ts'
import { gonePods } from './gone-pods.ts'
import { livePods } from './live-pods.ts'
import type { LeaseStatus, RunStatus, Status, StatusReport, UnreadableRun } from './status.ts'

export interface StatusRequest {
  namespace: string
  /** The workloads. Empty: every workload in the namespace with a record of sluice. */
  refs: WorkloadId[]
}

export interface StatusPorts {
  client: KubeClient
  clock: Clock
  /** The kinds of workloads. Default: the kinds that are built into sluice. */
  kinds?: Kinds
}

/** Reads the records. Writes nothing, and asks no load balancer. */
export async function readStatus({ namespace, refs }: StatusRequest, { client, kinds = KINDS }: StatusPorts): Promise<Status> {
  const [ledgers, pods, leases] = await Promise.all([
    listLedgers(client, namespace),
    listPods(client, namespace),
    listLeases(client, namespace),
  ])
  const readable = ledgers.flatMap((found) => (found.kind === 'read' ? [found.ledger] : []))
  const above = await aboveUnrecorded(readable, pods, { client, kinds })
  const workloads = refs.length > 0 ? refs : recordedWorkloads(readable, above)
  const reports = workloads.map((id): StatusReport => {
    const workload = refOf(id, id.name, namespace)
    const own = readable
      .filter(({ header }) => isNamedBy(header, id))
      .toSorted((a, b) => (a.header.startedAt < b.header.startedAt ? 1 : -1))
    const lease = leases.get(leaseName(id))
    return {
      workload,
      ...(lease ? { lease: leaseStatus(lease, own) } : {}),
      runs: own.map(({ header }) => ({
        id: header.run,
        images: header.images,
        ...(header.undoes === undefined ? {} : { undoes: header.undoes }),
        startedAt: header.startedAt,
        finished: header.finishedAt !== undefined,
        ...(header.aborted ? { abortedBy: header.aborted.by } : {}),
        ...orderedOf(header, lease),
      })),
      pods: [...livePods(pods, own, above, id, kinds), ...gonePods(pods, own, lease, workload, kinds)],
    }
  })
  // A typo in a name must not read as "nothing is open".
  for (const { workload, lease, runs, pods: open } of reports) {
    if (!lease && runs.length === 0 && open.length === 0) await assertExists(workload, { client, kinds })
  }
  const unreadable = ledgers.flatMap((one) => (one.kind === 'unreadable' ? [unreadableRun(one, namespace)] : []))
  return { workloads: reports, unreadable }
}

/**
 * The advice for an unreadable record. No run repairs it, and no cleanup removes it: a newer sluice may have written it, and only that one
 * knows its open entries.
 */
function unreadableRun({ run, problem }: { run: string; problem: RecordProblem }, namespace: string): UnreadableRun {
  const args = ['delete', 'configmap', '-l', `${LEDGER_LABEL}=${run}`]
  const advice: Advice = { code: 'remove-unreadable-record', commands: [{ command: 'kubectl', namespace, args }] }
  return { run, problem, needsOperator: { advice: [advice] } }
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

/**
 * The workload of each pod with a journal that no ledger has, by uid. For a pod of a Deployment this is the Deployment, and not the
 * ReplicaSet, which no command accepts.
 */
async function aboveUnrecorded(
  ledgers: readonly Ledger[],
  pods: readonly PodView[],
  { client, kinds }: { client: KubeClient; kinds: Kinds },
): Promise<ReadonlyMap<string, WorkloadId>> {
  const ownershipOf = createOwnerLookup(client, kinds)
  const recorded = new Set(ledgers.flatMap(({ entries }) => [...entries.keys()]))
  const above = new Map<string, WorkloadId>()
  for (const pod of pods) {
    const { uid, owner, name } = pod
    if (recorded.has(uid) || journalOf(pod).kind === 'none') continue
    const found = await ownershipOf(pod).catch((error: unknown) => {
      // The right to read the records does not include the right to read ReplicaSets.
      if (error instanceof WorkloadError && error.kind === 'forbidden') return undefined
      throw error
    })
    const itself = found === undefined && owner !== undefined ? ownerId(owner) : podId(name)
    above.set(uid, found?.type === 'workload' ? found.ref : itself)
  }
  return above
}

/** Every workload that a run or a journal names, sorted. */
function recordedWorkloads(ledgers: readonly Ledger[], above: ReadonlyMap<string, WorkloadId>): WorkloadId[] {
  const found = new Map<string, WorkloadId>()
  for (const one of [...ledgers.flatMap(({ header }) => header.workloads), ...above.values()])
    found.set(`${one.kind}.${one.group}/${one.name}`, idOf(one))
  return [...found.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, ref]) => ref)
}
