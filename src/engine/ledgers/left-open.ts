import type { LedgerEntry } from '../../journal/ledger.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { TrafficReading } from '../../pods/glossary.ts'
import { isOpen } from '../../pods/open-journal.ts'
import type { Refusal } from '../../plan/plan.ts'
import { findAlive } from './find-alive.ts'
import { isSuspect, lostJournalWords } from './lost-journals.ts'
import { type Unsettled, unsettledOf } from './unsettled.ts'
import type { World } from '../world.ts'

const HINT = 'The next run that can start goes on with it: mend what is refused here, and run the same command again.'

const BY_HAND = 'Put it back by hand if nobody wants it out, and run the same command again.'

/**
 * What earlier runs of these workloads have left out of rotation. A run that is refused leaves it so, and nobody else would
 * say it: most of all of a pod that is gone, which the ledger alone knows.
 */
export async function leftOpen(client: KubeClient, namespace: string, world: World): Promise<Refusal[]> {
  const left: Refusal[] = []
  const tell = (run: string, pod: string, what: string): void =>
    void left.push({ code: 'left-open', message: `run ${run} has left pod/${pod} ${what}`, hint: HINT })
  for (const { pod, stored } of world.store.all()) {
    if (stored.kind === 'read' && isOpen(stored) && world.includes(pod)) tell(stored.journal.run, pod.name, 'half done')
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
    const { state, detail } = reading
    if (alive !== undefined) tell(run, pod, `half done, which this request does not ask for: ${detail}`)
    else if (isGone) tell(run, pod, `drained, and that pod is gone: ${detail}`)
    else if (state !== 'unknown')
      left.push({ code: 'left-open', message: `pod/${pod}: ${lostJournalWords(run, detail)}`, hint: BY_HAND })
  }
  return [...left, ...(await leftForGood(forGood, world))]
}

/** How its targets stand; undefined where an operator had them out, or they are in rotation, or removed. */
export async function readingOfLeft(
  { uid, targets }: Pick<LedgerEntry, 'uid' | 'targets'>,
  { traffic }: Pick<World, 'traffic'>,
): Promise<TrafficReading | undefined> {
  if (targets.every(({ untouched }) => untouched)) return undefined
  const reading = await traffic.inspect(uid, targets)
  return reading.state === 'in' || reading.removed ? undefined : reading
}

/** Found by simulation (seeds 130179082, 130070070): who had left it out was killed before it said so, and those after were refused. */
export async function leftForGood(forGood: Unsettled['forGood'], world: Pick<World, 'traffic'>): Promise<Refusal[]> {
  const told: Refusal[] = []
  for (const entry of forGood) {
    const reading = await readingOfLeft(entry, world)
    if (reading === undefined) continue
    const what = `what was drained for pod/${entry.pod}, which is gone for good: ${reading.detail}`
    const message = `run ${entry.run} has left out of rotation ${what}`
    told.push({ code: 'left-open', message, hint: BY_HAND })
  }
  return told
}
