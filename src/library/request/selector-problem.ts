import { readSelector } from './label-selector.ts'
import { quote } from './quote.ts'

/** The reason why this label selector cannot select the pods of a run; undefined for a usable one. */
export function selectorProblem(selector: string): string | undefined {
  const read = readSelector(selector)
  if ('problem' in read) return `${quote(selector)} is no label selector: ${read.problem}`
  // The patch of a pod can change this label. A pod that its own patch removes from the watch looks deleted, and would stay out of
  // rotation.
  if (!read.labels.includes('controller-revision-hash')) return undefined
  const why = 'is another once a pod is patched, which would leave the selection in the middle of its upgrade'
  return `controller-revision-hash ${why}: name the workload, or select by another label`
}
