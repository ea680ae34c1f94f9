/** How the controllers of versions of Kubernetes differ. */
export interface ControllerRules {
  /** EndpointSlices have the named ports of sidecars. Endpoints have them in each version. */
  readonly slicesKnowSidecarPorts: boolean
  /** Addresses are written in their canonical form, and not as the pod has them. */
  readonly canonicalAddresses: boolean
  /** Endpoints have the label `endpoints.kubernetes.io/managed-by`. */
  readonly labelsEndpoints: boolean
}

/** Of Kubernetes 1.`minor`. */
export function controllerRules(minor: number): ControllerRules {
  const isCurrent = minor >= 33
  return { slicesKnowSidecarPorts: isCurrent, canonicalAddresses: isCurrent, labelsEndpoints: isCurrent }
}
