import { join } from 'node:path'
import { cachedBuild } from './build-cache.ts'
import { goBuild } from './go-build.ts'
import { writeTestImages } from './images.ts'
import { buildKubectl, buildKubernetes } from './kubernetes-build.ts'
import { moduleFolder, usualVersion } from './kubernetes-versions.ts'
import type { KubernetesVersion } from './kubernetes-versions.ts'
import { runCommand } from './run-command.ts'

/** Where the programs of a test cluster are. */
export interface Binaries {
  /** kube-apiserver, kube-controller-manager, kube-scheduler, kubelet, etcd */
  kubernetes: string
  /** cluster-init, traffic, app, pause */
  tools: string
  /** One docker-archive with every test image. */
  images: string
}

const toolsSource = join(import.meta.dirname, 'go', 'tools')
const imageFormat = join(import.meta.dirname, '../../scripts/image')
/** How programs are built, of which a change makes earlier ones useless. */
const recipe = ['go-build.ts', 'kubernetes-build.ts'].map((name) => join(import.meta.dirname, name))

/** Builds what is not in the cache yet: minutes the first time, milliseconds afterwards. */
export async function ensureBinaries(version: KubernetesVersion): Promise<Binaries> {
  const kubernetes = await ensureKubernetes(version)
  const tools = await cachedBuild({
    name: 'tools',
    sources: [toolsSource, join(import.meta.dirname, 'images.ts'), imageFormat, import.meta.filename, ...recipe],
    salt: await goVersion(),
    build: buildTools,
  })
  return { kubernetes, tools, images: join(tools, 'images.tar') }
}

/** The folder of Kubernetes' own programs alone, see `Binaries`. */
export async function ensureKubernetes(version: KubernetesVersion): Promise<string> {
  return cachedBuild({
    name: `kubernetes-${version}`,
    sources: [moduleFolder(version), ...recipe],
    salt: await goVersion(),
    build: (target) => buildKubernetes(moduleFolder(version), target),
  })
}

/** kubectl of the usual version, for where there is none. Builds it if need be: a minute. */
export async function ensureKubectl(): Promise<string> {
  const source = moduleFolder(usualVersion)
  const folder = await cachedBuild({
    name: 'kubectl',
    sources: [source, ...recipe],
    salt: await goVersion(),
    build: (target) => buildKubectl(source, target),
  })
  return join(folder, 'kubectl')
}

async function buildTools(target: string): Promise<void> {
  await goBuild(toolsSource, target, ['./app', './pause', './traffic', './cluster-init'])
  await writeTestImages(target, join(target, 'images.tar'))
}

async function goVersion(): Promise<string> {
  return (await runCommand('go', ['env', 'GOVERSION'], { cwd: toolsSource })).stdout.trim()
}
