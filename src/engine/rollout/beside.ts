import type { Observation } from '../../../machines/pod-upgrade/context.ts'
import type { PodView } from '../../pods/glossary.ts'
import { mayBeOpen } from '../../pods/open-journal.ts'
import type { NamedWorkloads } from '../../workloads/open.ts'
import type { PodSelection } from '../../observation/pod-record.ts'
import { podSelector } from '../../workloads/open.ts'
import type { Workload } from '../../workloads/workload.ts'
import type { PodStore } from '../../observation/pod-store.ts'

/**
 * Pods of the same workloads that a request by pod or by label is not about. Found by trial: of two pods that an interrupted
 * upgrade and one by label had out, neither counted the other's.
 */
export interface Beside {
  /** With those that have gone since and may have been left half done, as they were. */
  all(): Observation[]
  isCurrent(): boolean
  isBroken(): boolean
  /** Takes in the answer to a look at one of them. */
  announce(raw: unknown): void
  isHeard(): boolean
  refresh(): Promise<void>
}

const NOBODY: Beside = {
  all: () => [],
  isCurrent: () => true,
  isBroken: () => false,
  announce: () => {},
  isHeard: () => true,
  refresh: async () => {},
}

/** By name: the store has all pods of the workloads. */
export function besideNamed({ workloads, includes, isAboutPods }: NamedWorkloads, store: PodStore): Beside {
  if (!isAboutPods) return NOBODY
  return besideIn(store, (pod) => isOf(workloads, pod) && !includes(pod))
}

/**
 * By labels the store has only those that are meant: the others cost a list and a watch of their own. Of a pod without an owner it is
 * what somebody makes anew under its name.
 */
export async function besideSelected(
  workloads: readonly Workload[],
  selected: PodStore,
  open: (selector: PodSelection) => Promise<PodStore>,
): Promise<Beside> {
  if (workloads.length === 0) return NOBODY
  const store = await open(podSelector(workloads))
  return besideIn(store, (pod) => isOf(workloads, pod) && selected.get(pod.uid) === undefined)
}

/** By its uid, whether it was asked for or not. */
export function observedIn({ store, beside }: { store: PodStore; beside: Beside }): (uid: string) => Observation | undefined {
  const besides = new Map(beside.all().map((observed) => [observed.pod.uid, observed]))
  return (uid) => store.get(uid) ?? besides.get(uid)
}

function besideIn(store: PodStore, isBeside: (pod: PodView) => boolean): Beside {
  const left = new Map<string, Observation>()
  return {
    all() {
      const found = Array.from(store.all()).filter(({ pod }) => isBeside(pod))
      for (const { pod, stored } of found) {
        if (mayBeOpen(stored)) left.set(pod.uid, { pod: { ...pod, deleting: true }, stored })
        else left.delete(pod.uid)
      }
      // Found by simulation: what was drained for one that went is drained for the one that is ready in its place, too. This run
      // has their workload, so that nobody settles it before its end.
      return [...found, ...[...left.values()].filter(({ pod }) => store.get(pod.uid) === undefined)]
    },
    isCurrent: () => store.isCurrent(),
    isBroken: () => store.isBroken(),
    announce: (raw) => void store.announce(raw),
    isHeard: store.isHeard,
    refresh: () => store.refresh(),
  }
}

function isOf(workloads: readonly Workload[], pod: PodView): boolean {
  return workloads.some((workload) => workload.owns(pod))
}
