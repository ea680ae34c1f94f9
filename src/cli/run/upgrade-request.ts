import type { AbortRequest, UpgradeRequest } from '../../library/request/upgrade-request.ts'
import type { ParsedRequest } from '../arguments/request.ts'

/** What the command line asks for, as a request. The namespace is the one that the cluster handle has. */
export function upgradeRequest(parsed: ParsedRequest): UpgradeRequest {
  const { images, overrides, undo, exitWhenPaused, acceptTemplateDrift, allowUnbalanced, retiredLoadBalancers } = parsed
  return {
    ...choiceOf(parsed),
    images: Object.fromEntries(images.map(({ container, image }) => [container, image])),
    settings: overrides,
    acceptTemplateDrift,
    allowUnbalanced,
    retiredLoadBalancers,
    endWhenPaused: exitWhenPaused,
    ...(undo === undefined ? {} : { undo }),
  }
}

/** Of the settings an abort has the deadlines of the way home alone. */
export function abortRequest(parsed: ParsedRequest): AbortRequest {
  return { ...choiceOf(parsed), settings: parsed.overrides }
}

/** What it is about. */
export function choiceOf({ select }: Pick<ParsedRequest, 'select'>): Pick<UpgradeRequest, 'workload' | 'labelSelector'> {
  return 'refs' in select ? { workload: select.refs } : { labelSelector: select.labelSelector }
}
