import type { PodUpgradeInput } from '../../../machines/pod-upgrade/context.ts'
import type { LedgerEntry } from '../../journal/ledger.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { PodView } from '../../pods/glossary.ts'
import { isOwnedBy } from '../../pods/workload-id.ts'
import { findAlive } from '../ledgers/find-alive.ts'
import type { RunLedgers } from '../ledgers/history.ts'
import { allLedgers } from '../ledgers/history.ts'
import { isOfOthers } from '../ledgers/of-others.ts'
import { openEntries } from '../ledgers/open-entries.ts'
import type { World } from '../world.ts'

interface GhostOptions {
  ledgers: RunLedgers
  world: World
  client: KubeClient
  namespace: string
  epochOf(pod: PodView): number
}

/**
 * Pods that are gone while their targets may still be drained for them: in an open ledger, not closed there. It says what
 * is so at the moment that it resolves: one that goes while others are asked for is among them. One of a workload that is not
 * of this run is not: whoever has its Lease may be in the middle of what comes in its place.
 */
export async function ghostsOf({ ledgers, world, client, namespace, epochOf }: GhostOptions): Promise<PodUpgradeInput[]> {
  const ghosts = new Map<string, PodUpgradeInput>()
  /** The selector may have lost it while it lives on: then it is another request's business. */
  const elsewhere = new Set<string>()
  const refs = world.workloads.map(({ workload: { ref } }) => ref)
  const isMissing = ({ uid, targets }: LedgerEntry): boolean =>
    targets.length > 0 && !world.store.get(uid) && !ghosts.has(uid) && !elsewhere.has(uid)
  const missing = (): LedgerEntry | undefined =>
    [ledgers.current, ...ledgers.superseded]
      .flatMap(({ ledger }) =>
        openEntries(ledger, allLedgers(ledgers))
          .filter(isMissing)
          .filter((entry) => !isOfOthers(entry, ledger.header, { kinds: world.kinds, refs, pods: world.store.all })),
      )
      .at(0)

  for (let entry = missing(); entry !== undefined; entry = missing()) {
    if (await findAlive(client, namespace, entry)) elsewhere.add(entry.uid)
    else ghosts.set(entry.uid, ghostInput(entry))
  }
  return [...ghosts.values()]

  function ghostInput(entry: LedgerEntry): PodUpgradeInput {
    const pod = ghost(entry, world, namespace)
    return {
      pod,
      stored: { kind: 'none' },
      run: ledgers.current.ledger.header.run,
      epoch: epochOf(pod),
      wanted: [],
      rehearsed: false,
      ...(entry.address === undefined ? {} : { address: entry.address }),
      targets: entry.targets,
      gone: true,
    }
  }
}

/** The controller of that name now: it may have been deleted and made again since, and its pods are the heirs. */
function presentOwner(entry: LedgerEntry, { workloads }: Pick<World, 'workloads'>): LedgerEntry['owner'] {
  const { owner } = entry
  if (owner === undefined) return undefined
  const now = workloads.find(({ workload: { ref } }) => isOwnedBy(entry, ref))
  return { ...owner, uid: now?.workload.uid ?? owner.uid }
}

/** What the ledger knows of a pod that is gone. */
export function ghost(entry: LedgerEntry, world: Pick<World, 'workloads'>, namespace: string): PodView {
  const { uid, pod, address, node } = entry
  const owner = presentOwner(entry, world)
  return {
    uid,
    name: pod,
    namespace,
    resourceVersion: '0',
    generation: 0,
    observedGeneration: 0,
    deleting: false,
    finished: false,
    ...(address === undefined ? {} : { ip: address }),
    ...(node === undefined ? {} : { node }),
    ...(owner === undefined ? {} : { owner }),
    hostNetwork: false,
    ready: false,
    containersReady: false,
    containers: [],
    initContainers: [],
    gracePeriodSeconds: 0,
    hasLabels: false,
    hasAnnotations: false,
    journal: {},
  }
}
