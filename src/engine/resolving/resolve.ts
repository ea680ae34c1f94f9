import type { Reason } from '../../reasons/reason.ts'
import { journalOf } from '../../journal/journal.ts'
import { closePatch, wordPatch } from '../../journal/patches.ts'
import type { Word } from '../../journal/word.ts'
import type { KubeClient } from '../../kube/client.ts'
import { isNotFound, KubeError } from '../../kube/errors.ts'
import type { Journal, PodView } from '../../pods/glossary.ts'
import { podView } from '../../pods/view.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import { reasonOf, RunError } from '../errors.ts'
import { asItCounts } from '../ledgers/late-intents.ts'
import { resumeLedger } from '../ledgers/ledger-store.ts'
import { listLedgers } from '../ledgers/list-ledgers.ts'
import { leftOutEntries } from '../ledgers/left-out-entries.ts'
import { openEntries } from '../ledgers/open-entries.ts'
import { assertConfirmed, confirmAll } from '../leases/confirm-all.ts'
import type { Ownership } from '../leases/hold-lease.ts'
import { takeOwnership } from '../leases/ownership.ts'
import { podsPath } from '../../observation/pod-store.ts'
import { KINDS } from '../../workloads/kinds/index.ts'
import type { Kinds } from '../../workloads/kinds/kinds.ts'
import type { Found } from './meant.ts'
import type { Decision } from './resolution.ts'
import { tellRuns } from './resolution-account.ts'
import { decide } from './resolution.ts'
import { token } from '../token.ts'
import { wordLeases } from './word-leases.ts'

export interface ResolveRequest extends Word {
  namespace: string
  pod: string
}

export interface ResolvePorts {
  client: KubeClient
  /** The kinds of workloads. Default: the kinds that are built into sluice. */
  kinds?: Kinds
  clock: Clock
  random: Random
  /** The name of this process in the Lease. */
  identity: string
  signal: AbortSignal
  onWaiting(lease: string, holder: string, remainingMs: number): void
  onTrouble(error: Error): void
}

/** The results, one for each record. */
export interface Resolution {
  done: Reason[]
}

/**
 * Records a person's statement about a pod's traffic, so that a run can go on. Asks no load balancer: the reading of a load balancer counts
 * more than the statement once the run goes on.
 * @throws RunError of kind `preflight` where the statement does not fit the records; `conflict` where a live run has the pod, or the record
 * was written meanwhile
 */
export async function resolvePod(request: ResolveRequest, ports: ResolvePorts): Promise<Resolution> {
  const held: Ownership[] = []
  try {
    const found = await lookUp(request, ports)
    decide(found, request, 0)
    const leases = await wordLeases(found, { client: ports.client, kinds: ports.kinds ?? KINDS })
    for (const lease of leases.names) held.push(await take(lease, found, request, ports))
    const epoch = Math.max(...held.map((one) => one.epoch))
    const epochOf = (uid: string): number => held.find(({ lease }) => lease === leases.of(uid))?.epoch ?? epoch
    // The records may have changed during the wait for the Lease.
    const now = await lookUp(request, ports)
    const decision = decide(now, request, now.pod ? epochOf(now.pod.uid) : epoch)
    const assertHeld = async (): Promise<void> => assertConfirmed(await confirmAll(held))
    const resolution = await record(decision, request, { client: ports.client, assertHeld })
    await tellRuns(decision.told, { by: ports.identity, epoch, epochOf, atMs: ports.clock.wallNow() }, assertHeld).catch(
      (error: unknown) =>
        // The statement counts even where the report could not be written.
        ports.onTrouble(new RunError('deadline', { code: 'report-not-told', because: reasonOf(error) })),
    )
    return resolution
  } finally {
    await Promise.all(held.map((one) => one.release()))
  }
}

async function lookUp({ namespace, pod: name }: ResolveRequest, { client }: ResolvePorts): Promise<Found> {
  const [raw, ledgers] = await Promise.all([
    client.get(podsPath(namespace, name)).catch((error: unknown) => {
      if (isNotFound(error)) return undefined
      throw error
    }),
    listLedgers(client, namespace),
  ])
  const stores = ledgers.flatMap((one) => (one.kind === 'read' ? [resumeLedger(one, { client, namespace })] : []))
  const all = stores.map(({ ledger }) => ledger)
  const entries = stores
    .filter(({ ledger }) => ledger.header.finishedAt === undefined)
    .flatMap((store) =>
      [...openEntries(store.ledger, all), ...leftOutEntries(store.ledger)]
        .filter(({ pod, targets }) => pod === name && targets.length > 0)
        .map((entry) => ({ store, entry })),
    )
  if (raw === undefined) return { namespace, name, stored: { kind: 'none' }, entries }
  const pod = podView(raw)
  return { namespace, name, pod, stored: asItCounts(pod.uid, journalOf(pod), all), entries }
}

function take(lease: string, found: Found, request: ResolveRequest, ports: ResolvePorts): Promise<Ownership> {
  let epochFloor = epochIn(found)
  return takeOwnership({
    ...ports,
    namespace: request.namespace,
    lease,
    holder: `${ports.identity}_${token(ports.random, 6)}`,
    epochFloor: () => epochFloor,
    async readJournals() {
      epochFloor = epochIn(await lookUp(request, ports))
    },
    // An open record has had an owner, also where its journal is unreadable or gone with the pod.
    hadOwner: async () => true,
    onWaiting: (holder, remainingMs) => ports.onWaiting(lease, holder, remainingMs),
    // The decision depends on earlier readings, so it is not continued after a lost Lease. The person asks again.
    onRegained: () => new Promise(() => {}),
    onLost: () => {},
    onOrder: () => {},
  })
}

function epochIn({ stored }: Found): number {
  return stored.kind === 'read' ? stored.journal.epoch : 0
}

async function record(
  { journal, entries }: Decision,
  { namespace }: ResolveRequest,
  { client, assertHeld }: { client: KubeClient; assertHeld(): Promise<void> },
): Promise<Resolution> {
  let isAnyWritten = false
  try {
    for (const { store, next } of entries) {
      await assertHeld()
      await store.put(next, assertHeld)
      isAnyWritten = true
    }
    if (journal) {
      await assertHeld()
      await write(journal.pod, journal.next, { client, namespace, assertHeld })
    }
  } catch (error) {
    const mayStand = error instanceof KubeError && (isAnyWritten || error.kind === 'ambiguous')
    if (!mayStand) throw error
    throw new RunError('deadline', { code: 'not-all-recorded', because: reasonOf(error) }, { cause: error })
  }
  return { done: [...entries, ...(journal ? [journal] : [])].map(({ done }) => done) }
}

async function write(
  pod: PodView,
  next: Journal,
  { client, namespace, assertHeld }: { client: KubeClient; namespace: string; assertHeld(): Promise<void> },
): Promise<void> {
  const { subresource, operations } =
    next.step === 'closed' ? { subresource: '/status', operations: closePatch(pod, next) } : wordPatch(pod, next)
  try {
    await client.patch(podsPath(namespace, pod.name) + subresource, operations, { beforeAgain: assertHeld })
  } catch (error) {
    if (!(error instanceof KubeError) || error.status !== 422) throw error
    const reason = { code: 'record-changed-meanwhile', pod: pod.name, because: reasonOf(error) } as const
    throw new RunError('conflict', reason, { cause: error })
  }
}
