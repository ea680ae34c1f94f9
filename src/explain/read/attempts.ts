import { KubeError } from '../../kube/errors.ts'
import { reasonOf } from '../../engine/errors.ts'
import type { Unread } from '../explanation.ts'

/** Attempts to read parts that may be missing. The explanation has the rest. */
export interface Attempts {
  unread: Unread[]
  /** Resolves to the value, or to undefined where it could not be read. */
  try<Value>(part: Omit<Unread, 'because'>, read: () => Promise<Value>): Promise<Value | undefined>
}

export function createAttempts(): Attempts {
  const unread: Unread[] = []
  return {
    unread,
    async try(part, read) {
      try {
        return await read()
      } catch (error) {
        unread.push({ ...part, because: reasonOf(error) })
        return undefined
      }
    },
  }
}

/** The API server does not serve the kind, or does not have the object. */
export function isAbsent(error: unknown): boolean {
  return error instanceof KubeError && error.status === 404
}
