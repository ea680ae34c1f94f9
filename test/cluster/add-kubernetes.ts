import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { moduleFolder } from './kubernetes-versions.ts'
import { runCommand } from './run-command.ts'

// Writes the Go module from which a version of Kubernetes is built: `node test/cluster/add-kubernetes.ts 1.38.0`.
const [version] = process.argv.slice(2)
const [, minor, patch] = /^1\.(\d+)\.(\d+)$/.exec(version ?? '') ?? []
if (version === undefined || minor === undefined || patch === undefined) {
  console.error('usage: node test/cluster/add-kubernetes.ts 1.MINOR.PATCH')
  process.exit(2)
}

interface Module {
  Require: { Path: string; Version: string }[]
  Replace: { Old: { Path: string } }[]
}

const folder = moduleFolder(`1.${minor}`)
await mkdir(folder, { recursive: true })
const { GoMod } = JSON.parse(await go('mod', 'download', '-json', `k8s.io/kubernetes@v${version}`)) as { GoMod: string }
const kubernetes = JSON.parse(await go('mod', 'edit', '-json', GoMod)) as Module
const behaviour = /^godebug default=(\S+)$/m.exec(await readFile(GoMod, 'utf8'))?.[1]
const etcd = kubernetes.Require.find(({ Path }) => Path === 'go.etcd.io/etcd/server/v3')?.Version
const replacements: string[] = []
const exclusions: string[] = []
for (const { Old } of kubernetes.Replace) {
  // The programs need no sample modules, and some versions of them are not published.
  if (Old.Path.includes('/sample-')) exclusions.push(`${Old.Path} v0.0.0`)
  else replacements.push(`${Old.Path} => ${Old.Path} ${await published(Old.Path)}`)
}
await writeFile(join(folder, 'go.mod'), moduleText())
await go('-C', folder, 'mod', 'tidy')
console.log(`wrote ${folder}`)

/** Returns the published version of a module that Kubernetes requires by path: the same version, or the nearest one. */
async function published(path: string): Promise<string> {
  const { Versions = [] } = JSON.parse(await go('list', '-m', '-versions', '-json', path)) as { Versions?: string[] }
  const patches = Versions.map((one) => new RegExp(`^v0\\.${minor}\\.(\\d+)$`).exec(one)?.[1]).filter((one) => one !== undefined)
  const distance = (one: string): number => Math.abs(Number(one) - Number(patch))
  for (const one of patches.sort((a, b) => distance(a) - distance(b))) {
    const candidate = `v0.${minor}.${one}`
    // A listed version may have no content.
    if ((await tryGo('mod', 'download', `${path}@${candidate}`)) === 0) return candidate
  }
  throw new Error(`no version v0.${minor}.* of ${path} can be downloaded`)
}

function moduleText(): string {
  const commands = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubectl', 'kubelet']
  const tools = ['go.etcd.io/etcd/server/v3', ...commands.map((name) => `k8s.io/kubernetes/cmd/${name}`)]
  const lines = (values: readonly string[]): string => values.map((value) => `\t${value}\n`).join('')
  return `// Kubernetes 1.${minor}, built from its published Go modules. For another patch version: node test/cluster/add-kubernetes.ts 1.${minor}.PATCH
module sluice.dev/test/cluster/kubernetes

go 1.26

// The API server and the kubelet keep the Go behaviour that Kubernetes was released with.
godebug default=${behaviour}

tool (
${lines(tools)})

require (
${lines([`go.etcd.io/etcd/server/v3 ${etcd}`, `k8s.io/kubernetes v${version}`])})

replace (
${lines(replacements)})

exclude (
${lines(exclusions)})
`
}

async function go(...args: string[]): Promise<string> {
  return (await runCommand('go', args, { env: environment(), timeoutMs: 600_000 })).stdout
}

async function tryGo(...args: string[]): Promise<number> {
  return (await runCommand('go', args, { env: environment(), timeoutMs: 600_000, allowFailure: true })).code
}

function environment(): NodeJS.ProcessEnv {
  return { ...process.env, GOFLAGS: '-mod=mod' }
}
