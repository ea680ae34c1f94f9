import { join } from 'node:path'

/** The tested versions, with the oldest first. Each has a Go module in `go/kubernetes`. */
export const kubernetesVersions = ['1.32', '1.33', '1.34', '1.35', '1.36', '1.37'] as const

export type KubernetesVersion = (typeof kubernetesVersions)[number]

/** The version that all tests run on, and that the embedded cluster imitates. */
export const usualVersion: KubernetesVersion = '1.35'

/** Returns the folder of a version's Go module. */
export function moduleFolder(version: string): string {
  return join(import.meta.dirname, 'go', 'kubernetes', version)
}

/** Returns the version of the clusters of this process, from SLUICE_KUBERNETES. */
export function chosenVersion(): KubernetesVersion {
  const named = process.env['SLUICE_KUBERNETES']
  return named === undefined || named === '' ? usualVersion : versionNamed(named, 'SLUICE_KUBERNETES')
}

/** Reads a version such as `1.32`. `where` names the option or variable in the error. */
export function versionNamed(text: string, where: string): KubernetesVersion {
  const version = kubernetesVersions.find((one) => one === text)
  if (version === undefined) {
    throw new Error(
      `${where}: there is no Kubernetes ${JSON.stringify(text)} here; it is one of ${kubernetesVersions.join(', ')}`,
    )
  }
  return version
}
