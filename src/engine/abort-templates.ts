import type { LedgerHeader } from '../journal/ledger.ts'
import type { RunEventBody } from './events.ts'
import type { AssessedWorkload } from './planning.ts'

export interface AbortTemplates {
  /** Of the run that is aborted. */
  header: Pick<LedgerHeader, 'workloads' | 'images'>
  workloads: readonly AssessedWorkload[]
  signal: AbortSignal
  tell(event: RunEventBody): void
}

/**
 * Gives the templates that the run has changed the images back that they had, so that a pod that is made anew comes up
 * on those. One that somebody has edited since is theirs, and left as it is.
 * @returns what was left, and why
 * @throws WorkloadError where the API server does not take it in time
 */
export async function putBackTemplates({ header, workloads, signal, tell }: AbortTemplates): Promise<string[]> {
  const left: string[] = []
  for (const { kind, name, before } of header.workloads) {
    if (before === undefined) continue
    const shown = `${kind.toLowerCase()}/${name}`
    const found = workloads.find(({ workload: { ref } }) => ref.kind === kind && ref.name === name)
    if (found === undefined) {
      left.push(`the template of ${shown} was left as it is: it is not part of this run any more`)
      continue
    }
    const onProgress = (message: string): void => tell({ type: 'template', workload: shown, message })
    const put = await found.workload.putBack(before, header.images, { signal, onProgress })
    if (put.kind === 'left') left.push(put.message)
    else onProgress(`as before the run: ${before.map(({ container, image }) => `${container}=${image}`).join(', ')}`)
  }
  return left
}
