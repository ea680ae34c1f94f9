import type { ControllerRules } from './controller-rules.ts'
import type { Service } from './objects.ts'

export const SERVICE_NAME = 'kubernetes.io/service-name'
export const SLICE_MANAGED_BY = 'endpointslice.kubernetes.io/managed-by'
export const SLICE_CONTROLLER = 'endpointslice-controller.k8s.io'
export const ENDPOINTS_MANAGED_BY = 'endpoints.kubernetes.io/managed-by'
export const ENDPOINTS_CONTROLLER = 'endpoint-controller'
export const HEADLESS = 'service.kubernetes.io/headless'
/** The annotations for the time of the change that caused the write, and for Endpoints that are over capacity. */
export const TRIGGER_TIME = 'endpoints.kubernetes.io/last-change-trigger-time'
export const OVER_CAPACITY = 'endpoints.kubernetes.io/over-capacity'

type Labels = Readonly<Record<string, string>>

/** The labels of the Service, and the labels that the controller owns. */
export function sliceLabels(service: Service): Labels {
  const { [SERVICE_NAME]: _name, [SLICE_MANAGED_BY]: _by, [HEADLESS]: _headless, ...own } = service.metadata.labels ?? {}
  return { ...own, ...headless(service), [SERVICE_NAME]: service.metadata.name, [SLICE_MANAGED_BY]: SLICE_CONTROLLER }
}

export function endpointsLabels(service: Service, { labelsEndpoints }: ControllerRules): Labels {
  const { [HEADLESS]: _headless, ...own } = service.metadata.labels ?? {}
  return { ...own, ...headless(service), ...(labelsEndpoints ? { [ENDPOINTS_MANAGED_BY]: ENDPOINTS_CONTROLLER } : {}) }
}

function headless({ spec: { clusterIP = '' } }: Service): Labels {
  return clusterIP === '' || clusterIP === 'None' ? { [HEADLESS]: '' } : {}
}
