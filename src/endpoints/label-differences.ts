import type { ControllerRules } from './controller-rules.ts'
import { ENDPOINTS_CONTROLLER, ENDPOINTS_MANAGED_BY, HEADLESS, SERVICE_NAME, SLICE_MANAGED_BY } from './endpoint-labels.ts'
import type { Service } from './objects.ts'

type Labels = Readonly<Record<string, string>>

export interface LabelDifference {
  readonly name: string
  /** Each value is absent where that object does not have the label. */
  readonly onService?: string
  readonly onEndpoints?: string
}

/**
 * The labels by which the controller finds Endpoints unequal to their Service, so that it writes them at each sync. The controller
 * leaves out its own labels only on the Endpoints, so a Service with one of them is never equal.
 */
export function endpointsLabelDifferences(
  { metadata: { labels = {} } }: Service,
  current: Labels,
  { labelsEndpoints }: ControllerRules,
): LabelDifference[] {
  const { [HEADLESS]: _headless, ...rest } = current
  const wanted = labelsEndpoints ? { ...labels, [ENDPOINTS_MANAGED_BY]: ENDPOINTS_CONTROLLER } : labels
  const differences = differing(wanted, rest)
  // The controller counts its label on the Service, and not on the Endpoints.
  const owned = labels[ENDPOINTS_MANAGED_BY]
  if (!labelsEndpoints || owned === undefined || differences.some(({ name }) => name === ENDPOINTS_MANAGED_BY)) return differences
  return [...differences, { name: ENDPOINTS_MANAGED_BY, onService: owned, onEndpoints: ENDPOINTS_CONTROLLER }]
}

/** The labels by which an EndpointSlice differs from its Service. The reserved labels count on neither side. */
export function sliceLabelDifferences({ metadata: { labels = {} } }: Service, current: Labels): LabelDifference[] {
  return differing(withoutReserved(labels), withoutReserved(current))
}

function withoutReserved(labels: Labels): Labels {
  const { [SERVICE_NAME]: _name, [SLICE_MANAGED_BY]: _by, [HEADLESS]: _headless, ...rest } = labels
  return rest
}

function differing(onService: Labels, onEndpoints: Labels): LabelDifference[] {
  const names = [...new Set([...Object.keys(onService), ...Object.keys(onEndpoints)])].sort()
  return names.flatMap((name) => {
    const [service, endpoints] = [onService[name], onEndpoints[name]]
    if (service === endpoints) return []
    return [
      {
        name,
        ...(service === undefined ? {} : { onService: service }),
        ...(endpoints === undefined ? {} : { onEndpoints: endpoints }),
      },
    ]
  })
}
