import { cleanUp } from '../engine/ledgers/cleanup.ts'
import { DOCUMENT_LEASES } from '../engine/leases/lease-name.ts'
import { type LeaseRecord, leasePath, leaseRecord } from '../leases/lease.ts'
import { readStatus } from '../engine/status/read-status.ts'
import { LEDGER_LABEL } from '../journal/ledger.ts'
import type { KubeClient } from '../kube/client.ts'
import { listPages } from '../kube/list-pages.ts'
import { JOURNAL_KEY } from '../pods/view.ts'
import type { Clock } from '../ports/clock.ts'
import type { Kinds } from '../workloads/kinds/kinds.ts'
import { ageOf } from './ages.ts'
import type { Gathered, Listed, Read, Records } from './gathered.ts'
import type { Pod } from './objects.ts'
import { reading } from './read-problem.ts'

const RUN_LEASES = 'sluice-'
/** The process that holds a Lease lives where the Lease was renewed within this number of its durations. */
const DURATIONS = 2

interface RecordPorts {
  client: KubeClient
  clock: Clock
  kinds: Kinds
  /** The time by the clock of the API server, in milliseconds since 1970. */
  serverNow(): number
}

/**
 * Reads the records of sluice as `status` and `cleanup --dry-run` tell them. Without a namespace,
 * it reads each namespace that has a record.
 */
export async function readRecords(
  namespace: string | undefined,
  pods: Listed<Pod>,
  ports: RecordPorts,
): Promise<Gathered['records']> {
  const asked = { resource: 'configmaps', ...(namespace === undefined ? {} : { namespace }) }
  return reading(asked, async () => {
    const namespaces = namespace === undefined ? await recordedNamespaces(pods, ports.client) : [namespace]
    return Promise.all(namespaces.map((one) => recordsOf(one, ports)))
  })
}

async function recordedNamespaces(pods: Listed<Pod>, client: KubeClient): Promise<string[]> {
  const { items } = await listPages({ client, path: '/api/v1/configmaps', selectors: { labelSelector: LEDGER_LABEL } })
  const ofLedgers = (items as { metadata: { namespace: string } }[]).map(({ metadata }) => metadata.namespace)
  const ofPods = (pods.ok ? pods.value : []).filter(hasJournal).map(({ metadata }) => metadata.namespace)
  return [...new Set([...ofLedgers, ...ofPods])].sort()
}

function hasJournal({ metadata: { annotations = {} }, status }: Pod): boolean {
  return JOURNAL_KEY in annotations || (status?.conditions ?? []).some(({ type }) => type === JOURNAL_KEY)
}

async function recordsOf(namespace: string, { client, clock, kinds, serverNow }: RecordPorts): Promise<Records> {
  const status = await readStatus({ namespace, refs: [] }, { client, clock, kinds })
  const { items } = await listPages({ client, path: leasePath(namespace) })
  const nowAt = serverNow()
  const held = items.map(leaseRecord).filter(isHeldByRun)
  const live = held.filter(({ renewTime, durationMs }) => (ageOf(renewTime, nowAt) ?? Infinity) <= DURATIONS * durationMs)
  return {
    namespace,
    status,
    live: live.map(({ name, holder }) => ({ lease: name, holder })),
    unneeded: await unneededIn(namespace, held, { client, clock, kinds }),
  }
}

/** Plans a cleanup only where no run holds a Lease, because a cleanup watches a held Lease for as long as the Lease lives. */
async function unneededIn(
  namespace: string,
  held: readonly LeaseRecord[],
  ports: Pick<RecordPorts, 'client' | 'clock' | 'kinds'>,
): Promise<Read<Awaited<ReturnType<typeof cleanUp>>['removed']>> {
  if (held.length > 0)
    return { ok: false, because: { code: 'run-at-work', namespace, holders: held.map(({ holder }) => holder) } }
  const { removed } = await cleanUp({ namespace, refs: [], dryRun: true }, ports)
  return { ok: true, value: removed }
}

function isHeldByRun({ name, holder, isGivenBack }: LeaseRecord): boolean {
  return name.startsWith(RUN_LEASES) && !name.startsWith(DOCUMENT_LEASES) && !isGivenBack && holder !== ''
}
