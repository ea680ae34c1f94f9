import type { ContainerImage } from '../pods/glossary.ts'
import type { Assessment } from './workload.ts'

/** The assessment of a workload that was deleted after it was opened. */
export function goneAssessment(workload: string, images: readonly ContainerImage[]): Assessment {
  return { images: [...images], refusals: [{ code: 'workload-gone', workload }], warnings: [] }
}
