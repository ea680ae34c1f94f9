import type { WorkloadId } from '../../../pods/workload-id.ts'
import { KINDS } from '../index.ts'

/** The id of a workload of a built-in kind, by the kind's name such as `StatefulSet`. */
export function idNamed(word: string, name: string): WorkloadId {
  const found = KINDS.kindNamed(word)
  if (found === undefined) throw new Error(`there is no kind ${word}`)
  const { group, version, kind, plural } = found
  return { group, version, kind, plural, name }
}
