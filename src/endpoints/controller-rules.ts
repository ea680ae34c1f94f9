/** The differences between the controllers of versions of Kubernetes. */
export interface ControllerRules {
  /** EndpointSlices have the named ports of sidecars. Endpoints have them in each version. */
  readonly slicesKnowSidecarPorts: boolean
  /** The controllers write addresses in canonical form, and not in the form that the pod has. */
  readonly canonicalAddresses: boolean
  /** Endpoints have the label `endpoints.kubernetes.io/managed-by`. */
  readonly labelsEndpoints: boolean
}

/** The rules of Kubernetes 1.`minor`. */
export function controllerRules(minor: number): ControllerRules {
  const isCurrent = minor >= 33
  return { slicesKnowSidecarPorts: isCurrent, canonicalAddresses: isCurrent, labelsEndpoints: isCurrent }
}
