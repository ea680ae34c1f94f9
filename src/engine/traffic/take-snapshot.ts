import { AdapterError } from '../../../adapters/contract.ts'
import type { SnapshotAnswer } from '../../../machines/pod-upgrade/ports.ts'
import type { JournalTarget } from '../../pods/glossary.ts'
import { reasonOf } from '../errors.ts'
import type { Balancers } from './balancers.ts'
import type { FindAll } from './find-all.ts'
import { findAll } from './find-all.ts'
import type { Listener } from './find-targets.ts'
import type { Knowledge } from './knowledge.ts'

/** Reads the targets of a pod before its drain, for the restore. */
export async function takeSnapshot(
  { balancers, knowledge, ...where }: FindAll & { balancers: Balancers; knowledge: Knowledge },
  pod: Listener,
): Promise<SnapshotAnswer> {
  const before = knowledge.effects()
  // The pod may be about to start for the first time.
  if (pod.ip === undefined) return { kind: 'unknown', reason: { code: 'pod-without-address', pod: pod.name } }
  try {
    const found = await findAll(where, pod)
    if (!found) return { kind: 'unknown', reason: { code: 'entries-changing', pod: pod.name } }
    if (!found.found) return { kind: 'absent', reason: found.reason }
    const targets = await Promise.all(
      found.targets.map(async ({ loadBalancer, target }): Promise<JournalTarget> => {
        const { prior, inRotation } = await balancers.queueOf({ loadBalancer, scope: target.scope }).snapshot(target)
        const taken = { loadBalancer, target: target.id, scope: target.scope, prior, untouched: !inRotation }
        knowledge.note(taken, inRotation ? 'in' : 'out', before)
        return taken
      }),
    )
    return { kind: 'taken', targets, address: pod.ip ?? '' }
  } catch (error) {
    if (error instanceof AdapterError && (error.kind === 'fatal' || error.kind === 'not-found'))
      return { kind: 'absent', reason: reasonOf(error) }
    return { kind: 'unknown', reason: reasonOf(error) }
  }
}
