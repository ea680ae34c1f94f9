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
 * Finds the gone pods whose targets may still be drained, by the open entries of the ledgers. The result is true at the moment at which it
 * resolves, including pods that go during the search. Pods of other workloads are left out: the owner of that Lease may be upgrading the
 * replacement.
 */
export async function ghostsOf({ ledgers, world, client, namespace, epochOf }: GhostOptions): Promise<PodUpgradeInput[]> {
  const ghosts = new Map<string, PodUpgradeInput>()
  /** The pods that exist although the selector does not match them. They belong to another request. */
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

/** The controller with that name now. It may have been deleted and made again, and its pods are the replacements. */
function presentOwner(entry: LedgerEntry, { workloads }: Pick<World, 'workloads'>): LedgerEntry['owner'] {
  const { owner } = entry
  if (owner === undefined) return undefined
  const now = workloads.find(({ workload: { ref } }) => isOwnedBy(entry, ref))
  return { ...owner, uid: now?.workload.uid ?? owner.uid }
}

/** The pod as the ledger knows it. */
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
