import { join } from 'node:path'

/** Those that sluice is tested on, oldest first; each has a Go module in `go/kubernetes` that it is built from. */
export const kubernetesVersions = ['1.32', '1.33', '1.34', '1.35', '1.36', '1.37'] as const

export type KubernetesVersion = (typeof kubernetesVersions)[number]

/** The one that all tests run on, and that the embedded cluster goes by. */
export const usualVersion: KubernetesVersion = '1.35'

/** The folder of the Go module that a version is built from. */
export function moduleFolder(version: string): string {
  return join(import.meta.dirname, 'go', 'kubernetes', version)
}

/** SLUICE_KUBERNETES names the version that the clusters of this process have. */
export function chosenVersion(): KubernetesVersion {
  const named = process.env['SLUICE_KUBERNETES']
  return named === undefined || named === '' ? usualVersion : versionNamed(named, 'SLUICE_KUBERNETES')
}

/** A version that a person has written, such as `1.32`; `where` names the option or variable. */
export function versionNamed(text: string, where: string): KubernetesVersion {
  const version = kubernetesVersions.find((one) => one === text)
  if (version === undefined) {
    throw new Error(
      `${where}: there is no Kubernetes ${JSON.stringify(text)} here; it is one of ${kubernetesVersions.join(', ')}`,
    )
  }
  return version
}
