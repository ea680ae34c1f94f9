import type { ContainerImage } from '../pods/glossary.ts'
import type { Refusal } from '../plan/plan.ts'
import type { Assessment } from './workload.ts'

const MADE_ANEW = 'Run the same command again once it is made anew and its pods are ready.'

/** Of a workload that was there when it was opened. */
export function goneAssessment(owner: string, images: readonly ContainerImage[]): Assessment {
  const refusal: Refusal = { code: 'workload-gone', message: `${owner} was deleted meanwhile`, hint: MADE_ANEW }
  return { images: [...images], refusals: [refusal], warnings: [] }
}

export function deletingRefusal(owner: string): Refusal {
  return { code: 'workload-deleting', message: `${owner} is being deleted`, hint: MADE_ANEW }
}
