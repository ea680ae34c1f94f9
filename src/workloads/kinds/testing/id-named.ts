import type { WorkloadId } from '../../../pods/workload-id.ts'
import { KINDS } from '../index.ts'

/** By the word for a kind that sluice knows by itself, such as `StatefulSet`. */
export function idNamed(word: string, name: string): WorkloadId {
  const found = KINDS.kindNamed(word)
  if (found === undefined) throw new Error(`there is no kind ${word}`)
  const { group, version, kind, plural } = found
  return { group, version, kind, plural, name }
}
