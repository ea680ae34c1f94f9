import { readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { cachedBuild } from './build-cache.ts'
import { writeTestImages } from './images.ts'
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

const kubernetesSource = join(import.meta.dirname, 'go', 'kubernetes')
const toolsSource = join(import.meta.dirname, 'go', 'tools')

/** Builds what is not in the cache yet: minutes the first time, milliseconds afterwards. */
export async function ensureBinaries(): Promise<Binaries> {
  const goVersion = (await runCommand('go', ['env', 'GOVERSION'], { cwd: toolsSource })).stdout.trim()
  const kubernetes = await cachedBuild({
    name: 'kubernetes',
    sources: [kubernetesSource, import.meta.filename],
    salt: goVersion,
    build: buildKubernetes,
  })
  const tools = await cachedBuild({
    name: 'tools',
    sources: [toolsSource, join(import.meta.dirname, 'images.ts'), import.meta.filename],
    salt: goVersion,
    build: buildTools,
  })
  return { kubernetes, tools, images: join(tools, 'images.tar') }
}

/** kubectl of the same version, for where there is none. Builds it if need be: a minute. */
export async function ensureKubectl(): Promise<string> {
  const goVersion = (await runCommand('go', ['env', 'GOVERSION'], { cwd: kubernetesSource })).stdout.trim()
  const folder = await cachedBuild({
    name: 'kubectl',
    sources: [kubernetesSource, import.meta.filename],
    salt: goVersion,
    build: async (target) => goBuild(kubernetesSource, target, ['k8s.io/kubernetes/cmd/kubectl'], await versionFlags()),
  })
  return join(folder, 'kubectl')
}

async function buildKubernetes(target: string): Promise<void> {
  const commands = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet']
  const packages = [...commands.map((name) => `k8s.io/kubernetes/cmd/${name}`), 'go.etcd.io/etcd/server/v3']
  await goBuild(kubernetesSource, target, packages, await versionFlags())
  // Go names a program after its folder, which for etcd is the module's "server".
  await rename(join(target, 'server'), join(target, 'etcd'))
}

/** What the programs say that they are. */
async function versionFlags(): Promise<string[]> {
  const goMod = await readFile(join(kubernetesSource, 'go.mod'), 'utf8')
  const version = /k8s\.io\/kubernetes v(\S+)/.exec(goMod)?.[1]
  if (version === undefined) {
    throw new Error('go/kubernetes/go.mod names no version of k8s.io/kubernetes')
  }
  const [major, minor] = version.split('.')
  const stamps = { gitVersion: `v${version}`, gitMajor: major, gitMinor: minor }
  return Object.entries(stamps).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
}

async function buildTools(target: string): Promise<void> {
  await goBuild(toolsSource, target, ['./app', './pause', './traffic', './cluster-init'])
  await writeTestImages(target, join(target, 'images.tar'))
}

async function goBuild(source: string, target: string, packages: string[], linkerFlags: string[] = []): Promise<void> {
  const ldflags = ['-s', '-w', ...linkerFlags].join(' ')
  await runCommand('go', ['build', '-trimpath', '-buildvcs=false', '-ldflags', ldflags, '-o', `${target}/`, ...packages], {
    cwd: source,
    env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '' },
    timeoutMs: 30 * 60_000,
  })
}
