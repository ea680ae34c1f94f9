import type { ReasonFields, ReasonOf } from '../reasons/reason.ts'

/** Pods that their owner would replace with pods on other images than the run gives them. */
export type TemplateDrift = Readonly<ReasonFields['template-drift']>

export function templateDriftRefusal(drift: TemplateDrift): ReasonOf<'template-drift'> {
  return { code: 'template-drift', ...drift }
}

export function templateDriftWarning(drift: TemplateDrift): ReasonOf<'template-unchanged'> {
  return { code: 'template-unchanged', ...drift }
}
