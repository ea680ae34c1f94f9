import { spawn } from 'node:child_process'
import type { ChildProcess, SpawnOptions } from 'node:child_process'
import { mkdir, readdir, readFile, readlink, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { insideApiAddress, writeJson } from './cluster-info.ts'
import type { ClusterInfo } from './cluster-info.ts'
import { recordProcess } from './process-record.ts'
import type { ProcessRecord } from './process-record.ts'
import { runCommand } from './run-command.ts'

/** The namespaces that a command of the test shares with the cluster. */
export type Scope =
  /** Only its network: the command sees the files and processes of the host. */
  | 'network'
  /** Also its mounts and processes, for commands that talk to containerd or look into /proc. */
  | 'all'

/** Makes the namespaces. All processes in them die with the returned process. */
export async function startInit(tools: string, dir: string): Promise<{ init: ProcessRecord; apiPort: number }> {
  await mkdir(join(dir, 'logs'), { recursive: true })
  const { stdout } = await runCommand(join(tools, 'cluster-init'), ['run', dir, insideApiAddress], { timeoutMs: 10_000 })
  const { pid, port } = JSON.parse(stdout) as { pid: number; port: number }
  return { init: recordProcess('cluster-init', pid), apiPort: port }
}

/** Returns the command line that runs a command inside. */
export function enter(info: ClusterInfo, scope: Scope, command: string, args: readonly string[]): [string, string[]] {
  if (info.init === null) {
    throw new Error(`cluster ${info.id} has no namespaces`)
  }
  const ns = `/proc/${info.init.pid}/ns`
  const all = scope === 'all' ? [`--mount=${ns}/mnt`, `--pid=${ns}/pid`] : []
  // `ip netns exec` is not used: it mounts /sys anew, which hides the cgroups.
  return ['nsenter', [`--net=${ns}/net`, ...all, '--', command, ...args]]
}

/** Starts a command in the network of the cluster. The command is killed with the cluster, even from another process. */
export async function spawnInside(
  info: ClusterInfo,
  command: string,
  args: readonly string[],
  options: SpawnOptions = {},
): Promise<ChildProcess> {
  const [program, words] = enter(info, 'network', command, args)
  const child = spawn(program, words, options)
  const failed = new Promise<never>((_, reject) => child.once('error', reject))
  await Promise.race([failed, new Promise((resolve) => child.once('spawn', resolve))])
  failed.catch(() => {})
  if (child.pid !== undefined) {
    await trackProcess(info, command, child.pid).then(
      (file) => child.once('exit', () => void rm(file, { force: true })),
      () => {}, // it ended already
    )
  }
  return child
}

/** Returns the processes of a cluster: the recorded ones, and all processes in its network. */
export async function processesOf(info: ClusterInfo): Promise<ProcessRecord[]> {
  const found = new Map<number, ProcessRecord>()
  for (const record of await trackedProcesses(info)) {
    found.set(record.pid, record)
  }
  // While the init process lives, no other network namespace can have this number.
  const network = info.init === null ? undefined : await networkOf(info.init.pid)
  if (network !== undefined) {
    for (const entry of await readdir('/proc')) {
      const pid = Number(entry)
      if (Number.isInteger(pid) && pid !== info.init?.pid && (await networkOf(pid)) === network) {
        try {
          found.set(pid, recordProcess(`process in ${info.id}`, pid))
        } catch {
          // it has ended
        }
      }
    }
  }
  return [...found.values()]
}

async function trackProcess(info: ClusterInfo, name: string, pid: number): Promise<string> {
  const folder = join(info.dir, 'processes')
  await mkdir(folder, { recursive: true })
  const file = join(folder, `${pid}.json`)
  await writeJson(file, recordProcess(name, pid))
  return file
}

async function trackedProcesses(info: ClusterInfo): Promise<ProcessRecord[]> {
  const folder = join(info.dir, 'processes')
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.json'))
  const records = await Promise.all(
    names
      .map(async (name) => JSON.parse(await readFile(join(folder, name), 'utf8')) as ProcessRecord)
      .map((p) => p.catch(() => undefined)),
  )
  return records.filter((record) => record !== undefined)
}

async function networkOf(pid: number): Promise<string | undefined> {
  return readlink(`/proc/${pid}/ns/net`).catch(() => undefined)
}
