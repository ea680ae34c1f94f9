import type { Observation } from '../../../machines/pod-upgrade/context.ts'
import type { PodView } from '../../pods/glossary.ts'
import { mayBeOpen } from '../../pods/open-journal.ts'
import type { NamedWorkloads } from '../../workloads/open.ts'
import type { PodSelection } from '../../observation/pod-record.ts'
import { podSelector } from '../../workloads/open.ts'
import type { Workload } from '../../workloads/workload.ts'
import type { PodStore } from '../../observation/pod-store.ts'

/** The pods of the same workloads that a request by pod or by label does not include. They count in the window too. */
export interface Beside {
  /** The pods, including those that were half done when they went, as they were. */
  all(): Observation[]
  isCurrent(): boolean
  isBroken(): boolean
  /** Takes in the answer to a read of one of the pods. */
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

/** The pods beside a request by name. The store has all pods of the workloads. */
export function besideNamed({ workloads, includes, isAboutPods }: NamedWorkloads, store: PodStore): Beside {
  if (!isAboutPods) return NOBODY
  return besideIn(store, (pod) => isOf(workloads, pod) && !includes(pod))
}

/**
 * The pods beside a request by label. The store has only the requested pods, so the others get a list and a watch of their own. For
 * a bare pod, the other pod is one that is made anew under its name.
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

/** Looks a pod up by its uid, requested or not. */
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
      // The targets of a half-done pod that went are drained for its replacement, too. This run has the workload, so no other run settles
      // them before its end.
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
