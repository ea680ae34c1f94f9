import type { LedgerHeader, ReadLedger } from '../../journal/ledger.ts'
import type { KubeClient } from '../../kube/client.ts'
import { isNotFound } from '../../kube/errors.ts'
import { listPages } from '../../kube/list-pages.ts'
import { pause } from '../../kube/pause.ts'
import type { PodView } from '../../pods/glossary.ts'
import { podView } from '../../pods/view.ts'
import { displayName, idOf, isSameWorkload, type WorkloadId } from '../../pods/workload-id.ts'
import type { Clock } from '../../ports/clock.ts'
import { assertExists } from '../../workloads/assert-exists.ts'
import { WorkloadError } from '../../workloads/errors.ts'
import { KINDS } from '../../workloads/kinds/index.ts'
import type { Kinds } from '../../workloads/kinds/kinds.ts'
import { isPod, podId } from '../../workloads/kinds/pod.ts'
import { createOwnerLookup } from '../../workloads/owner.ts'
import { notFound } from '../../workloads/watch.ts'
import { reasonOf, RunError } from '../errors.ts'
import type { LeaseRecord } from '../../leases/lease.ts'
import { LEASE_DURATION_MS, LOOK_EVERY_MS } from '../../leases/lease.ts'
import { leaseName } from '../leases/lease-name.ts'
import { assertNoneNewer } from '../ledgers/assert-none-newer.ts'
import { listLedgers } from '../ledgers/list-ledgers.ts'
import { podsPath } from '../../observation/pod-store.ts'
import { readLease } from '../../leases/read-lease.ts'
import type { RunRequest } from '../request.ts'

/** The workloads and pods that are asked about. */
export interface OpenRunsRequest extends Pick<RunRequest, 'namespace' | 'select'> {
  /** The kinds of workloads. Default: the kinds that are built into sluice. */
  kinds?: Kinds
}

/** The open runs on some workloads, as the cluster has them now. */
export interface OpenRuns {
  /** The request as text, such as `statefulset/web`. */
  asked: string
  refs: WorkloadId[]
  /** The headers of unfinished runs, the newest first. */
  runs: LedgerHeader[]
  /** The Leases of all workloads of these runs, and of those that were asked for. */
  leases: LeaseRecord[]
}

/**
 * Reads the open runs, and writes nothing. A named pod stands for its owner. Throws a WorkloadError where neither the pod or workload nor a
 * record of it exists.
 */
export async function readOpenRuns(client: KubeClient, request: OpenRunsRequest): Promise<OpenRuns> {
  return (await lookUp(client, request)).open
}

async function lookUp(
  client: KubeClient,
  { namespace, select, kinds = KINDS }: OpenRunsRequest,
): Promise<{ open: OpenRuns; ledgers: ReadLedger[] }> {
  const { refs, missing } =
    'refs' in select
      ? await ownersOf({ client, kinds }, namespace, select.refs)
      : { refs: await selected({ client, kinds }, namespace, select.labelSelector), missing: [] }
  const isAsked = (one: WorkloadId): boolean => refs.some((ref) => isSameWorkload(ref, one))
  const ledgers = await listLedgers(client, namespace)
  const headers = ledgers.flatMap((found) => (found.kind === 'read' ? [found.ledger.header] : []))
  const runs = headers
    .filter(({ finishedAt, workloads }) => finishedAt === undefined && workloads.some(isAsked))
    .toSorted((a, b) => (a.startedAt < b.startedAt ? 1 : -1))
  const concerned = [...refs, ...runs.flatMap(({ workloads }) => workloads)]
  const names = [...new Set(concerned.map((ref) => leaseName(ref)))].toSorted()
  const leases = (await Promise.all(names.map((name) => readLease(client, namespace, name)))).filter((one) => one !== undefined)
  const recorded = headers.flatMap(({ workloads }) => workloads)
  for (const ref of refs) {
    // A deleted workload may have left a run behind, and its orders still work.
    const hasRecord = leases.some((lease) => lease.name === leaseName(ref)) || recorded.some((one) => isSameWorkload(one, ref))
    if (hasRecord) continue
    if (!isPod(ref)) await assertExists({ ...ref, namespace }, { client, kinds })
    else if (missing.includes(ref.name)) throw notFound({ ...ref, namespace })
  }
  return { open: { asked: refs.map(displayName).join(', '), refs, runs, leases }, ledgers }
}

interface Lookup {
  client: KubeClient
  kinds: Kinds
}

/** Resolves pods to their owners. A missing pod stands for itself; its record tells whether it existed. */
async function ownersOf(
  { client, kinds }: Lookup,
  namespace: string,
  refs: readonly WorkloadId[],
): Promise<{ refs: WorkloadId[]; missing: readonly string[] }> {
  const pods: PodView[] = []
  const missing: string[] = []
  for (const { name } of refs.filter(isPod)) {
    try {
      pods.push(podView(await client.get(podsPath(namespace, name))))
    } catch (error) {
      if (!isNotFound(error)) throw error
      missing.push(name)
    }
  }
  const isItself = (ref: WorkloadId): boolean => !isPod(ref) || missing.includes(ref.name)
  return { refs: unique([...refs.filter(isItself), ...(await above({ client, kinds }, pods))]), missing }
}

async function selected({ client, kinds }: Lookup, namespace: string, labelSelector: string): Promise<WorkloadId[]> {
  const { items } = await listPages({ client, path: podsPath(namespace), selectors: { labelSelector } })
  if (items.length === 0) {
    throw new WorkloadError('not-found', { code: 'no-pods-by-selector', selector: labelSelector, namespace })
  }
  return unique(await above({ client, kinds }, items.map(podView)))
}

async function above({ client, kinds }: Lookup, pods: readonly PodView[]): Promise<WorkloadId[]> {
  const ownershipOf = createOwnerLookup(client, kinds)
  const refs: WorkloadId[] = []
  for (const pod of pods) {
    const ownership = await ownershipOf(pod)
    refs.push(ownership.type === 'workload' ? ownership.ref : podId(pod.name))
  }
  return refs
}

function unique(refs: readonly WorkloadId[]): WorkloadId[] {
  return refs.filter((ref, index) => refs.findIndex((other) => isSameWorkload(other, ref)) === index).map(idOf)
}

/**
 * Reads the open runs. Where a Lease is held and no run is open, waits for one lease life, in which the owner can begin a run. Throws a
 * RunError where a newer sluice has a run of the workloads on record.
 */
export async function awaitOpenRuns(
  client: KubeClient,
  request: OpenRunsRequest,
  clock: Clock,
  signal?: AbortSignal,
): Promise<OpenRuns> {
  const since = clock.now()
  for (;;) {
    const { open, ledgers } = await lookUp(client, request)
    assertNoneNewer(ledgers, open.refs)
    const begins = open.runs.length === 0 && open.leases.some(({ holder }) => holder !== '')
    if (!begins || clock.now() - since > LEASE_DURATION_MS) return open
    await pause(clock, LOOK_EVERY_MS, signal)
    signal?.throwIfAborted()
  }
}

/**
 * Calls `act` for all open runs, and again for runs that began meanwhile: such a run was not on record at the first read, and is on record
 * before its owner can hear of the order. Returns the runs for which `act` was called. Throws a RunError where `act` is done and the open
 * runs cannot be read.
 */
export async function forOpenRuns(
  client: KubeClient,
  request: OpenRunsRequest,
  found: OpenRuns,
  act: (open: OpenRuns) => Promise<void>,
): Promise<OpenRuns> {
  for (let open = found; ;) {
    await act(open)
    const known = new Set(open.runs.map(({ run }) => run))
    const now = await readOpenRuns(client, request).catch((error: unknown) => {
      throw new RunError('deadline', { code: 'order-stands-unsure', because: reasonOf(error) }, { cause: error })
    })
    if (now.runs.every(({ run }) => known.has(run))) return open
    open = now
  }
}
