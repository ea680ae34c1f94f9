import { createHash } from 'node:crypto'
import { mkdir, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeTestImages } from './images.ts'
import { isAlive, recordProcess } from './process-record.ts'
import type { ProcessRecord } from './process-record.ts'
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

const goFolder = join(import.meta.dirname, 'go')
const kubernetesVersion = /k8s\.io\/kubernetes v(\S+)/

/** Builds what is not in the cache yet: minutes the first time, milliseconds afterwards. */
export async function ensureBinaries(): Promise<Binaries> {
  const goVersion = (await runCommand('go', ['env', 'GOVERSION'], { cwd: goFolder })).stdout.trim()
  const kubernetes = await cached('kubernetes', join(goFolder, 'kubernetes'), goVersion, buildKubernetes)
  const tools = await cached('tools', join(goFolder, 'tools'), goVersion, buildTools, [join(import.meta.dirname, 'images.ts')])
  return { kubernetes, tools, images: join(tools, 'images.tar') }
}

export function cacheFolder(): string {
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'sluice', 'cluster')
}

async function buildKubernetes(source: string, target: string): Promise<void> {
  const version = kubernetesVersion.exec(await readFile(join(source, 'go.mod'), 'utf8'))?.[1]
  if (version === undefined) {
    throw new Error(`no Kubernetes version in ${source}/go.mod`)
  }
  const [major, minor] = version.split('.')
  const stamp =
    `-X k8s.io/component-base/version.gitVersion=v${version}` +
    ` -X k8s.io/component-base/version.gitMajor=${major} -X k8s.io/component-base/version.gitMinor=${minor}`
  const commands = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet']
  await goBuild(source, target, [...commands.map((name) => `k8s.io/kubernetes/cmd/${name}`), 'go.etcd.io/etcd/server/v3'], stamp)
  // Go names a program after its folder, which for etcd is the module's "server".
  await rename(join(target, 'server'), join(target, 'etcd'))
}

async function buildTools(source: string, target: string): Promise<void> {
  await goBuild(source, target, ['./app', './pause', './traffic', './cluster-init'])
  await writeTestImages(target, join(target, 'images.tar'))
}

async function goBuild(source: string, target: string, packages: string[], linkerFlags = ''): Promise<void> {
  await runCommand(
    'go',
    ['build', '-trimpath', '-buildvcs=false', '-ldflags', `-s -w ${linkerFlags}`, '-o', `${target}/`, ...packages],
    {
      cwd: source,
      env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '' },
      timeoutMs: 30 * 60_000,
    },
  )
}

async function cached(
  name: string,
  source: string,
  goVersion: string,
  build: (source: string, target: string) => Promise<void>,
  moreSources: string[] = [],
): Promise<string> {
  const target = join(cacheFolder(), `${name}-${await hashSources(source, moreSources, goVersion)}`)
  if (await exists(target)) {
    return target
  }
  await mkdir(cacheFolder(), { recursive: true })
  const unlock = await lock(`${target}.lock`)
  try {
    if (await exists(target)) {
      return target
    }
    process.stderr.write(`test cluster: building ${name} (minutes the first time, cached afterwards)\n`)
    const unfinished = `${target}.${process.pid}.tmp`
    await rm(unfinished, { recursive: true, force: true })
    await mkdir(unfinished)
    try {
      await build(source, unfinished)
      await rename(unfinished, target)
    } finally {
      await rm(unfinished, { recursive: true, force: true })
    }
    return target
  } finally {
    await unlock()
  }
}

async function hashSources(folder: string, more: string[], goVersion: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  const hash = createHash('sha256')
    .update(goVersion)
    .update(await readFile(import.meta.filename))
  for (const file of [...files, ...more]) {
    const relative = file.slice(goFolder.length)
    hash.update(`\0${relative}\0`).update(await readFile(file))
  }
  return hash.digest('hex').slice(0, 16)
}

/** A file made exclusively, holding its owner, so that the lock of a dead process is taken over. */
async function lock(path: string): Promise<() => Promise<void>> {
  const me = JSON.stringify(recordProcess('lock', process.pid))
  for (let attempt = 0; attempt < 3_600; attempt++) {
    try {
      await writeFile(path, me, { flag: 'wx' })
      return () => rm(path, { force: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const owner = await readOwner(path)
    if (owner !== undefined && !isAlive(owner)) {
      // Renaming can succeed for one waiter only, so nobody removes the lock of the next owner.
      await rename(path, `${path}.${process.pid}.stale`).catch(() => {})
      await rm(`${path}.${process.pid}.stale`, { force: true })
      continue
    }
    await sleep(500)
  }
  throw new Error(`another process holds ${path} for more than half an hour`)
}

async function readOwner(path: string): Promise<ProcessRecord | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as ProcessRecord
  } catch {
    return undefined // gone, or not written to its end yet
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
