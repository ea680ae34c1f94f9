import type { RelocateAnswer } from '../../../machines/pod-upgrade/ports.ts'
import { pause } from '../../kube/pause.ts'
import type { JournalTarget } from '../../pods/glossary.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Reason } from '../../reasons/reason.ts'
import { reasonOf } from '../errors.ts'
import type { AskTargets } from './ask-targets.ts'
import { GONE_FOR_MS } from './ask-targets.ts'
import type { Balancers } from './balancers.ts'
import type { Listener, Place, Where } from './find-targets.ts'
import { findTargets, unrecorded } from './find-targets.ts'
import { entryReading, isGone } from './reading.ts'
import { isSameEntry } from './same-entry.ts'

export interface RelocateOptions extends Where {
  clock: Clock
  balancers: Balancers
  ask: AskTargets
  /** The pod is the one that was drained, and may be about to be patched. */
  isItself: boolean
}

/**
 * Finds out whether a pod at a new address still has its drained entries. Removed entries need no settlement. Entries that an operator has
 * made since are left alone where they are in rotation. The drained pod itself must have no other entries, since it may be patched.
 */
export async function relocate(
  { clock, balancers, ask, isItself, ...where }: RelocateOptions,
  pod: Listener,
  targets: readonly JournalTarget[],
): Promise<RelocateAnswer> {
  try {
    const { now, reason } = await placesOf(where, pod)
    // Each entry at its present address.
    const renamed = targets.map((before) => ({ before, after: now.find((one) => isSameEntry(before, one, balancers.adapterOf)) }))
    const kept = renamed.flatMap(({ before, after }) => (after ? [{ ...before, target: after.target.id }] : []))
    const lost = renamed.flatMap(({ before, after }) => (after ? [] : [before]))
    const others = now.filter((one) => renamed.every(({ after }) => after !== one)).map(unrecorded)
    const same = { kind: 'same', address: pod.ip ?? '', targets: kept } as const
    if (lost.length === 0 && others.length === 0 && reason === undefined) return same

    const elsewhere = {
      kind: 'elsewhere',
      reason: {
        code: 'at-new-address',
        ...(pod.ip === undefined ? {} : { address: pod.ip }),
        entries: now.map(({ loadBalancer, target }) => ({ loadBalancer, target: target.id })),
        ...(reason && now.length === 0 ? { because: reason } : {}),
      },
    } as const
    if (kept.length === 0 || (isItself && others.length > 0)) return elsewhere

    const asked = [...lost, ...others]
    const readings = await ask(asked, false)
    const unread = asked.findIndex((target, index) => readings[index]!.admin === 'unknown' && balancers.isReadable(target))
    if (unread !== -1)
      return {
        kind: 'unknown',
        reason: { code: 'entries-read', entries: [entryReading(asked[unread]!, readings[unread]!)] },
      }
    const isSettled = readings.every((reading, index) => isGone(reading) || (index >= lost.length && reading.admin === 'in'))
    if (!isSettled) return elsewhere
    if (!isItself) return same
    // The list may be short.
    await pause(clock, GONE_FOR_MS)
    const again = await placesOf(where, pod)
    return again.now.length === kept.length ? same : { kind: 'unknown', reason: { code: 'entries-changing', pod: pod.name } }
  } catch (error) {
    return { kind: 'unknown', reason: reasonOf(error) }
  }
}

/** The entries of a pod, also where a load balancer lacks it, with the reason for that. */
async function placesOf(where: Where, pod: Listener): Promise<{ now: readonly Place[]; reason?: Reason }> {
  const [found] = await findTargets(where, [pod])
  if (found!.found) return { now: found!.targets }
  const [some] = await findTargets({ ...where, allowUnbalanced: true }, [pod])
  return { now: some!.found ? some!.targets : [], reason: found!.reason }
}
