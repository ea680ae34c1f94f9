import type { LedgerEntry } from '../../journal/ledger.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { TrafficReading } from '../../pods/glossary.ts'
import { isOpen } from '../../pods/open-journal.ts'
import type { Refusal } from '../../plan/plan.ts'
import { findAlive } from './find-alive.ts'
import { isSuspect } from './lost-journals.ts'
import { type Unsettled, unsettledOf } from './unsettled.ts'
import type { World } from '../world.ts'

/**
 * Lists the entries that earlier runs of these workloads left out of rotation, for a run that is refused. Only the ledger knows of pods
 * that are gone.
 */
export async function leftOpen(client: KubeClient, namespace: string, world: World): Promise<Refusal[]> {
  const left: Refusal[] = []
  for (const { pod, stored } of world.store.all()) {
    if (stored.kind === 'read' && isOpen(stored) && world.includes(pod))
      left.push({ code: 'left-open', run: stored.journal.run, pod: pod.name, standing: 'half-done' })
  }
  const refs = world.workloads.map(({ workload: { ref } }) => ref)
  const { open, forGood } = await unsettledOf(client, namespace, refs)
  for (const entry of open) {
    const { run, uid, pod } = entry
    const isUnseen = world.store.get(uid) === undefined
    const alive = isUnseen ? await findAlive(client, namespace, entry) : undefined
    const isGone = isUnseen && alive === undefined
    const reading = isUnseen || isSuspect(entry, world) ? await readingOfLeft(entry, world) : undefined
    if (reading === undefined) continue
    const { state, detail: traffic } = reading
    const standing = alive !== undefined ? 'not-asked' : isGone ? 'pod-gone' : 'journal-lost'
    if (standing !== 'journal-lost' || state !== 'unknown') left.push({ code: 'left-open', run, pod, standing, traffic })
  }
  return [...left, ...(await leftForGood(forGood, world))]
}

/** The reading of the entry's targets. Undefined where they are in rotation, removed, or out by an operator. */
export async function readingOfLeft(
  { uid, targets }: Pick<LedgerEntry, 'uid' | 'targets'>,
  { traffic }: Pick<World, 'traffic'>,
): Promise<TrafficReading | undefined> {
  if (targets.every(({ untouched }) => untouched)) return undefined
  const reading = await traffic.inspect(uid, targets)
  return reading.state === 'in' || reading.removed ? undefined : reading
}

/** Lists the entries that were left out for good. A run that was killed may not have told of them. */
export async function leftForGood(forGood: Unsettled['forGood'], world: Pick<World, 'traffic'>): Promise<Refusal[]> {
  const told: Refusal[] = []
  for (const entry of forGood) {
    const reading = await readingOfLeft(entry, world)
    if (reading === undefined) continue
    const { run, pod } = entry
    told.push({ code: 'left-open', run, pod, standing: 'gone-for-good', traffic: reading.detail })
  }
  return told
}
