import { readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { goBuild } from './go-build.ts'

/** The programs of a control plane and a node, from the Go module in `source`. */
export async function buildKubernetes(source: string, target: string): Promise<void> {
  const commands = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet']
  const packages = [...commands.map((name) => `k8s.io/kubernetes/cmd/${name}`), 'go.etcd.io/etcd/server/v3']
  await goBuild(source, target, packages, await versionFlags(source))
  // Go names a program after its folder, which for etcd is the module's "server".
  await rename(join(target, 'server'), join(target, 'etcd'))
}

export async function buildKubectl(source: string, target: string): Promise<void> {
  await goBuild(source, target, ['k8s.io/kubernetes/cmd/kubectl'], await versionFlags(source))
}

/** What the programs say that they are. */
async function versionFlags(source: string): Promise<string[]> {
  const goMod = await readFile(join(source, 'go.mod'), 'utf8')
  const version = /k8s\.io\/kubernetes v(\S+)/.exec(goMod)?.[1]
  if (version === undefined) {
    throw new Error(`${source}/go.mod names no version of k8s.io/kubernetes`)
  }
  const [major, minor] = version.split('.')
  const stamps = { gitVersion: `v${version}`, gitMajor: major, gitMinor: minor }
  return Object.entries(stamps).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
}
