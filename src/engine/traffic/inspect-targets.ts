import type { TargetObservation } from '../../../adapters/contract.ts'
import type { JournalTarget, TrafficReading } from '../../pods/glossary.ts'
import { reasonOf } from '../errors.ts'
import type { RunEventBody } from '../events.ts'
import type { AskTargets } from './ask-targets.ts'
import type { Balancers } from './balancers.ts'
import type { Knowledge } from './knowledge.ts'
import { entryReading, inFlightOf, isOut, together } from './reading.ts'

export interface InspectOptions {
  balancers: Balancers
  knowledge: Knowledge
  ask: AskTargets
  tell(event: RunEventBody): void
}

/**
 * Reads the targets of a pod. With `wasOut`, an unreadable target without a known state counts as out. With `all`, the entries that an
 * operator has out are read as well, for `reclaimed`.
 */
export type Inspect = (
  uid: string,
  targets: readonly JournalTarget[],
  how?: { wasOut: boolean; all?: true },
) => Promise<TrafficReading>

export function createInspect({ balancers, knowledge, ask, tell }: InspectOptions): Inspect {
  const { isReadable } = balancers
  const { doubts, operations, hasCaughtUp, isOvertaken, stateOf, wasReadOut } = knowledge

  /** Confirms calls without an answer that are seen to be done. */
  function confirm(
    uid: string,
    targets: readonly JournalTarget[],
    readings: readonly TargetObservation[],
    isOfNow: (target: JournalTarget) => boolean,
  ): void {
    targets.forEach((target, index) => {
      const reading = readings[index]!
      const doubt = doubts.of(uid, target)
      if (!doubt || !isReadable(target) || isOut(reading) !== (doubt.effect === 'drain')) return
      // A missing entry proves no call: it may be a 404 of a gateway, or a short list.
      if (reading.admin === 'unknown' || reading.admin === 'absent') return
      // A reading that may be old proves nothing: the state may be an operator's from before the drain.
      if (!isOfNow(target)) return
      // Maintenance by an operator is no proof of a drain. The drain may still arrive after the maintenance.
      if (doubt.effect === 'drain' && reading.admin === 'out') return void doubts.overtake(uid, target)
      doubts.settle(uid, target)
      operations.noteDone(target, doubt.operation, doubt.effect)
      tell({ ...doubt, outcome: 'confirmed', reason: { code: 'entries-read', entries: [entryReading(target, reading)] } })
    })
  }

  /**
   * Only the entries that sluice may touch make the state. An entry that an operator has out says nothing about the pod. `reclaimed` tells
   * of one that the operator has put back, and its requests in flight are counted.
   */
  return async (uid, recorded, { wasOut, all } = { wasOut: false }) => {
    const targets = recorded.filter(({ untouched }) => !untouched)
    if (recorded.length === 0) return { state: 'out', inFlight: 0, detail: { code: 'in-no-load-balancer' } }
    const before = knowledge.effects()
    try {
      // A reading counts as current only where it was current before its request, too.
      const hadCaughtUp = new Set(targets.filter(hasCaughtUp))
      const operators = all ? recorded.filter((target) => target.untouched && isReadable(target)) : []
      const asked = await ask([...targets, ...operators], wasOut)
      const readings = asked.slice(0, targets.length)
      const leftAlone = asked.slice(targets.length)
      const reclaimed = reclaimedOf(operators, leftAlone)
      if (targets.length === 0)
        return { state: 'out', ...reclaimed, inFlight: inFlightOf(leftAlone), detail: { code: 'out-by-operator' } }
      const isHidden = readings.some(({ admin }, index) => admin === 'unknown' && !isReadable(targets[index]!))
      const isSupposed = targets.some((target) => !isReadable(target) && knowledge.answers.isSupposed(target))
      const isOfNow = (target: JournalTarget): boolean =>
        hadCaughtUp.has(target) && hasCaughtUp(target) && !isOvertaken(target, before)
      const known = targets.map((target, index) => ({
        reading: readings[index]!,
        wasOut: wasOut || stateOf(target) === 'out' || wasReadOut(target),
      }))
      confirm(uid, targets, readings, isOfNow)
      targets.forEach((target, index) => {
        const reading = readings[index]!
        // The state is noted, since a later call may change nothing, and no read-back can prove such a call.
        if (isReadable(target) && reading.admin !== 'unknown' && reading.admin !== 'absent' && isOfNow(target))
          knowledge.note(target, isOut(reading) ? 'out' : 'in', before)
      })
      return {
        ...together(known),
        inFlight: inFlightOf([...readings, ...leftAlone]),
        ...(readings.some(({ isEmptying }) => isEmptying) ? { emptying: true } : {}),
        ...(isHidden ? { hidden: true } : {}),
        ...(isSupposed ? { supposed: true } : {}),
        ...reclaimed,
        ...(doubts.isPending(uid) ? { pending: true } : {}),
        ...(targets.every(isOfNow) ? {} : { old: true }),
        detail: { code: 'entries-read', entries: readings.map((reading, index) => entryReading(targets[index]!, reading)) },
      }
    } catch (error) {
      return { state: 'unknown', inFlight: null, detail: reasonOf(error) }
    }
  }
}

/** The first entry that an operator had out and has put back. */
function reclaimedOf(
  targets: readonly JournalTarget[],
  readings: readonly TargetObservation[],
): Pick<TrafficReading, 'reclaimed'> {
  const index = readings.findIndex(({ routable }) => routable)
  return index === -1 ? {} : { reclaimed: entryReading(targets[index]!, readings[index]!) }
}
