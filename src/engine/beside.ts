import type { Observation } from '../../machines/pod-upgrade/context.ts'
import type { PodView } from '../pods/glossary.ts'
import type { NamedWorkloads } from '../workloads/open.ts'
import { podSelector, type PodSelector } from '../workloads/open.ts'
import type { Workload } from '../workloads/workload.ts'
import type { PodStore } from './pod-store.ts'

/**
 * Pods of the same workloads that a request by pod or by label is not about. Found by trial: of two pods that an interrupted
 * upgrade and one by label had out, neither counted the other's.
 */
export interface Beside {
  all(): Observation[]
  isCurrent(): boolean
}

const NOBODY: Beside = { all: () => [], isCurrent: () => true }

/** By name: the store has all pods of the workloads. */
export function besideNamed({ workloads, includes, isAboutPods }: NamedWorkloads, store: PodStore): Beside {
  if (!isAboutPods) return NOBODY
  return {
    all: () => Array.from(store.all()).filter(({ pod }) => isOf(workloads, pod) && !includes(pod)),
    isCurrent: () => store.isCurrent(),
  }
}

/** By labels the store has only those that are meant: the others cost a list and a watch of their own. */
export async function besideSelected(
  workloads: readonly Workload[],
  selected: PodStore,
  open: (selector: PodSelector) => Promise<PodStore>,
): Promise<Beside> {
  // Pods without an owner stand each for itself.
  const owners = workloads.filter(({ ref }) => ref.kind !== 'Pod')
  if (owners.length === 0) return NOBODY
  const store = await open(podSelector(owners))
  return {
    all: () => Array.from(store.all()).filter(({ pod }) => isOf(owners, pod) && selected.get(pod.uid) === undefined),
    isCurrent: () => store.isCurrent(),
  }
}

function isOf(workloads: readonly Workload[], pod: PodView): boolean {
  return workloads.some((workload) => workload.owns(pod))
}
