import { type KubernetesVersion, usualVersion } from './kubernetes-versions.ts'

/** The differences between versions of Kubernetes that tests have to know. */
export interface VersionFacts {
  /** True where the status of a pod names the generation that the kubelet has seen. */
  observesGenerations: boolean
  /** The proofs of a restart with another digest, where no status is missed. */
  proofs: string[]
  /** The version whose recordings of a kubelet also hold for this version. */
  recordings: KubernetesVersion
}

const unobserved: VersionFacts = { observesGenerations: false, proofs: ['event', 'image'], recordings: '1.32' }
const observed: VersionFacts = { observesGenerations: true, proofs: ['witness'], recordings: usualVersion }

const facts: Record<KubernetesVersion, VersionFacts> = {
  '1.32': unobserved,
  '1.33': unobserved,
  '1.34': observed,
  '1.35': observed,
  '1.36': observed,
  // Both versions often report the end of a container and the start of the next in one status.
  '1.37': { ...observed, recordings: '1.36' },
}

export function versionFacts(version: KubernetesVersion): VersionFacts {
  return facts[version]
}
