import type { Refusal } from '../plan/plan.ts'

/** Pods that their owner would make anew on other images than the run gives them. */
export interface TemplateDrift {
  owner: string
  /** What becomes of the owner when its template is changed. */
  because: string
  /** Such as `app stays registry/app:v1`. */
  images: string
}

export function templateDriftRefusal({ owner, because, images }: TemplateDrift): Refusal {
  return {
    code: 'template-drift',
    message: `${owner} cannot be upgraded in place with its template: ${because}. With the pods alone patched, every pod made later comes up on the images of the template (${images})`,
    hint: 'Use a StatefulSet or DaemonSet with the update strategy OnDelete, or accept it: --accept-template-drift.',
  }
}

export function templateDriftWarning({ owner, images }: TemplateDrift): string {
  return `${owner}: its template is not changed; every pod made later comes up on its images (${images})`
}
