import { operationId } from '../../journal/operation.ts'
import type { Journal } from '../../pods/glossary.ts'
import type { TargetKey } from './target-key.ts'
import { keyOf } from './target-key.ts'

type Kind = 'drain' | 'restore'

/**
 * By which id each effect goes out. The same for all its tries, unless that id is spent: taken for done again, where it reads
 * otherwise. Found by simulation: what was drained came back, and its drain was refused as one that was done, again and again.
 * Why not sooner: docs/decisions/0025-a-repair-has-an-id-of-its-own.md.
 */
export interface Operations {
  idOf(record: Journal, uid: string, kind: Kind, target: TargetKey): string
  /** It was answered as done, or was seen to be. */
  noteDone(target: TargetKey, operation: string, kind: Kind): void
  /** What the target reads as, by a reading that is younger than its last effect. */
  noteRead(target: TargetKey, state: 'in' | 'out'): void
}

export function createOperations(): Operations {
  /** By target: the last that was done, how often that was said, and what the target is by it. */
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
