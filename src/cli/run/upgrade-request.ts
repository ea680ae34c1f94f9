import type { AbortRequest, UpgradeRequest } from '../../library/request/upgrade-request.ts'
import type { ParsedRequest } from '../arguments/request.ts'

/** Converts the parsed command line to a request. The namespace comes from the cluster handle. */
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

/** An abort takes only the deadlines of the way home from the settings. */
export function abortRequest(parsed: ParsedRequest): AbortRequest {
  return { ...choiceOf(parsed), settings: parsed.overrides }
}

/** Returns the choice of workloads or pods. */
export function choiceOf({ select }: Pick<ParsedRequest, 'select'>): Pick<UpgradeRequest, 'workload' | 'labelSelector'> {
  return 'refs' in select ? { workload: select.refs } : { labelSelector: select.labelSelector }
}
