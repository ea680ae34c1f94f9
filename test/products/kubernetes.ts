/** The control plane of Kubernetes with its etcd, as built for the cluster tests. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { ensureKubernetes } from '../cluster/binaries.ts'
import type { KubernetesVersion } from '../cluster/kubernetes-versions.ts'
import { runCommand } from '../cluster/run-command.ts'
import { lastLine, type Program } from './program.ts'

/** Returns the folder of the programs, built at the first call where Go is installed, or the reason why there is none. */
export async function findKubernetes(version: KubernetesVersion): Promise<Program> {
  if (spawnSync('go', ['version']).status !== 0)
    return { title: `Kubernetes ${version}: there is no Go to build it with`, program: undefined, version: undefined }
  try {
    const folder = await ensureKubernetes(version)
    const { stdout } = await runCommand(join(folder, 'kube-apiserver'), ['--version'])
    const own = /\d+\.\d+\.\d+/.exec(stdout)![0]
    return { title: `Kubernetes ${own}`, program: folder, version: own }
  } catch (error) {
    return { title: `Kubernetes ${version}: ${lastLine(error)}`, program: undefined, version: undefined }
  }
}
