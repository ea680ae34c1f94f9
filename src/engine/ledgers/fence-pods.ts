import { journalOf } from '../../journal/journal.ts'
import type { LedgerEntry } from '../../journal/ledger.ts'
import { closePatch } from '../../journal/patches.ts'
import type { KubeClient } from '../../kube/client.ts'
import { KubeError } from '../../kube/errors.ts'
import { asksFor } from '../../pods/baseline.ts'
import type { Journal, PodView, ReadJournal } from '../../pods/glossary.ts'
import { mayBeOpen } from '../../pods/open-journal.ts'
import { messageOf } from '../errors.ts'
import type { Owners } from '../leases/owners.ts'
import { podsPath } from '../pod-store.ts'
import type { World } from '../world.ts'
import type { AssertOwned } from './create-part.ts'
import { findAlive } from './find-alive.ts'
import type { RunLedgers } from './history.ts'
import { isNamedIn, podOf } from './of-others.ts'

/** Writes at once: a run may be of thousands of pods. */
const AT_ONCE = 20

/** For one pod: its record, or its first condition, may change meanwhile. */
const MOST_TRIES = 5

export interface FencePodsOptions {
  ledgers: RunLedgers
  world: World
  owners: Pick<Owners, 'epochOf'>
  client: KubeClient
  namespace: string
  assertOwned: AssertOwned
  /** Nothing is written from then on: there is no time. */
  isCutShort(): boolean
}

/** By uid: those whose journal an earlier owner may still write. */
export type Unfenced = ReadonlyMap<string, { pod: string; reason: string }>

interface Observed {
  pod: PodView
  stored: ReadJournal
}

/**
 * Voids the drain intents that owners before this one may have sent, and not heard of: of pods that their ledgers have open, that have no
 * open journal, and that this owner has not written to. Each gets a closed journal, over which none of those is carried out. Found by
 * trial: a run was aborted whose owner had been killed, with nothing to write on any pod; then the intent arrived, and the next run put back
 * what an operator had out by that time.
 */
export async function fencePods(options: FencePodsOptions): Promise<Unfenced> {
  const { ledgers, world, owners, client, namespace, assertOwned, isCutShort } = options
  const { run } = ledgers.current.ledger.header
  const unfenced = new Map<string, { pod: string; reason: string }>()
  const entries = entriesOfFormer(ledgers, world)
  for (let from = 0; from < entries.length; from += AT_ONCE)
    await Promise.all(entries.slice(from, from + AT_ONCE).map(async (entry) => fence(entry)))
  return unfenced

  async function fence(entry: LedgerEntry): Promise<void> {
    let reason = ''
    try {
      let seen = world.store.get(entry.uid) ?? (await read(entry))
      for (let tries = 0; tries < MOST_TRIES; tries++) {
        // Gone, or open: that is what the ledger has it open for.
        if (!seen || seen.pod.deleting || mayBeOpen(seen.stored) || isDoneWith(seen)) return
        if (isCutShort()) {
          reason = 'interrupted'
          break
        }
        await assertOwned()
        const error = await write(seen)
        if (error === undefined) return
        reason = error.message
        seen = await read(entry)
      }
    } catch (error) {
      reason = messageOf(error)
    }
    unfenced.set(entry.uid, { pod: entry.pod, reason })
  }

  async function read(entry: LedgerEntry): Promise<Observed | undefined> {
    const pod = await findAlive(client, namespace, entry)
    return pod && { pod, stored: journalOf(pod) }
  }

  async function write({ pod, stored }: Observed): Promise<KubeError | undefined> {
    const before: Pick<Journal, 'attempt' | 'baseline' | 'targets'> =
      stored.kind === 'read' ? stored.journal : { attempt: 1, baseline: [], targets: [] }
    const { attempt, baseline, targets } = before
    const record: Journal = { run, epoch: owners.epochOf(pod), attempt, step: 'closed', baseline, targets }
    try {
      const raw = await client.patch(`${podsPath(namespace, pod.name)}/status`, closePatch(pod, record), { once: true })
      if (world.store.get(pod.uid)) world.store.observe(raw)
      return undefined
    } catch (error) {
      if (!(error instanceof KubeError)) throw error
      return error
    }
  }

  /** Written by this owner; or brought to its images by this run, whose owners have nothing to send for it after that. */
  function isDoneWith({ pod, stored }: Observed): boolean {
    if (stored.kind !== 'read' || stored.journal.run !== run) return false
    const wanted = world.imagesFor(pod)
    return stored.journal.epoch === owners.epochOf(pod) || (wanted.length > 0 && asksFor(pod, wanted))
  }
}

/** Once each. One that an owner has told to be idle has nothing under way, unless that owner had no time to see to it. */
function entriesOfFormer({ current, resumed, superseded }: RunLedgers, world: World): LedgerEntry[] {
  const refs = world.workloads.map(({ workload: { ref } }) => ref)
  const former = [...(resumed ? [current] : []), ...superseded].flatMap(({ ledger }) => [...ledger.entries.values()])
  const ours = former.filter(
    (entry) => entry.state === 'open' && (!entry.idle || entry.unfenced) && refs.some((ref) => isNamedIn(ref, podOf(entry))),
  )
  return [...new Map(ours.map((entry) => [entry.uid, entry])).values()]
}
