import { operationId } from '../../journal/operation.ts'
import type { Journal } from '../../pods/glossary.ts'
import type { TargetKey } from './target-key.ts'
import { keyOf } from './target-key.ts'

type Kind = 'drain' | 'restore'

/**
 * The operation id of each effect. All tries of an effect have the same id, unless the id is spent: the load balancer answered "done" twice
 * with that id, and reads otherwise. docs/decisions/0025-a-repair-has-an-id-of-its-own.md tells why the first time does not count.
 */
export interface Operations {
  idOf(record: Journal, uid: string, kind: Kind, target: TargetKey): string
  /** The operation was answered as done, or was seen to be done. */
  noteDone(target: TargetKey, operation: string, kind: Kind): void
  /** Notes a reading that is younger than the target's last effect. */
  noteRead(target: TargetKey, state: 'in' | 'out'): void
}

export function createOperations(): Operations {
  /** The last operation of each target that was done, the number of its answers, and the state that it makes. */
  const lastDone = new Map<string, { operation: string; times: number; state: 'in' | 'out' }>()
  const spent = new Set<string>()

  return {
    idOf(record, uid, kind, { loadBalancer, target }) {
      for (let repair = 0; ; repair++) {
        const operation = operationId(record, uid, kind, `${loadBalancer}/${target}`, repair)
        if (!spent.has(operation)) return operation
      }
    },
    noteDone(target, operation, kind) {
      const key = keyOf(target)
      const last = lastDone.get(key)
      const times = last?.operation === operation ? last.times + 1 : 1
      lastDone.set(key, { operation, times, state: kind === 'drain' ? 'out' : 'in' })
    },
    noteRead(target, state) {
      const last = lastDone.get(keyOf(target))
      if (last && last.state !== state && last.times > 1) spent.add(last.operation)
    },
  }
}
