import { readSelector } from './label-selector.ts'
import { quote } from './quote.ts'

/** Why pods cannot be asked for by this label selector; undefined where they can. */
export function selectorProblem(selector: string): string | undefined {
  const read = readSelector(selector)
  if ('problem' in read) return `${quote(selector)} is no label selector: ${read.problem}`
  // A pod that its own patch takes out of the watch looks like one that is gone, and stays out.
  if (!read.labels.includes('controller-revision-hash')) return undefined
  const why = 'is another once a pod is patched, which would leave the selection in the middle of its upgrade'
  return `controller-revision-hash ${why}: name the workload, or select by another label`
}
