import type { ReasonOf } from '../../reasons/reason.ts'
import type { KubeClient } from '../../kube/client.ts'
import { listPages } from '../../kube/list-pages.ts'
import type { Refusal } from '../../plan/plan.ts'
import { podView } from '../../pods/view.ts'
import { podsPath } from '../../observation/pod-store.ts'
import type { World } from '../world.ts'
import { leftForGood, readingOfLeft } from './left-open.ts'
import { displayName } from '../../pods/workload-id.ts'
import type { Kinds } from '../../workloads/kinds/kinds.ts'
import { isNamedIn } from '../../workloads/kinds/named-in.ts'
import { isPod } from '../../workloads/kinds/pod.ts'
import { podOf } from './of-others.ts'
import { type Unsettled, unsettledOf } from './unsettled.ts'

type Entry = Unsettled['open'][number]

/**
 * Lists the entries that unfinished runs left out for gone pods of any workload, for a label selector that matches no pod. A pod with that
 * label may be among them: its label is gone with it, and no record has the label.
 */
export async function leftOfGone(
  client: KubeClient,
  namespace: string,
  world: Pick<World, 'kinds' | 'traffic'>,
): Promise<Refusal[]> {
  const { open, forGood } = await unsettledOf(client, namespace)
  // The pods are listed after the ledgers, so that a pod that comes in between does not count as gone.
  const { items } = await listPages({ client, path: podsPath(namespace) })
  const alive = new Set(items.map((raw) => podView(raw).uid))
  const gone = new Map(open.flatMap((entry) => (alive.has(entry.uid) ? [] : [[entry.uid, entry]])))
  const told = await Promise.all(Array.from(gone.values(), (entry) => leftOf(entry, namespace, world)))
  return [...told.flat(), ...(await leftForGood(forGood, world))]
}

async function leftOf(entry: Entry, namespace: string, world: Pick<World, 'kinds' | 'traffic'>): Promise<Refusal[]> {
  const reading = await readingOfLeft(entry, world)
  if (reading === undefined) return []
  const { run, pod } = entry
  const standing = reading.state === 'unknown' ? 'pod-gone-unsure' : 'pod-gone'
  return [{ code: 'left-open', run, pod, standing, traffic: reading.detail, ...wayOut(entry, namespace, world.kinds) }]
}

/**
 * The command that settles the entry. A pod of a workload is left to the next run, which may be at work: its entry is open until a
 * replacement is ready.
 */
function wayOut(
  { workloads, ...entry }: Entry,
  namespace: string,
  kinds: Kinds,
): Pick<ReasonOf<'left-open'>, 'workloads' | 'resolve'> {
  const own = workloads.filter((one) => isNamedIn(kinds, one, podOf(entry)))
  const names = (own.length === 0 ? workloads : own).map(displayName)
  if (own.some((one) => !isPod(one))) return { workloads: names }
  return {
    workloads: names,
    resolve: { command: 'resolve', pod: entry.pod, namespace, gone: true, traffic: 'in' },
  }
}
