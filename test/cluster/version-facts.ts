import type { KubernetesVersion } from './kubernetes-versions.ts'

/** How versions of Kubernetes differ where tests expect something of them. */
export interface VersionFacts {
  /** How the restart of a pod that changes to another digest is proven, where no status is missed. */
  proofs: string[]
}

/** From 1.34 the status of a pod names the generation that the kubelet has seen. */
const observed: VersionFacts = { proofs: ['witness'] }
const unobserved: VersionFacts = { proofs: ['event', 'image'] }

const facts: Record<KubernetesVersion, VersionFacts> = {
  '1.32': unobserved,
  '1.33': unobserved,
  '1.34': observed,
  '1.35': observed,
  '1.36': observed,
  '1.37': observed,
}

export function versionFacts(version: KubernetesVersion): VersionFacts {
  return facts[version]
}
