import { mkdir, readFile, readdir, rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KubernetesVersion } from './kubernetes-versions.ts'
import type { ProcessRecord } from './process-record.ts'

/** A user of the API server, known by a token from the start. */
export interface Identity {
  user: string
  groups: string[]
  token: string
}

/** All that another process needs to use, or to clear away, a cluster. Kept in DIR/state.json. */
export interface ClusterInfo {
  id: string
  /** The work folder: everything that the cluster writes is below it. */
  dir: string
  /** The cluster ends with this process; null for one that stays until it is taken down. */
  owner: ProcessRecord | null
  /** Process 1 of the namespaces; null until it has started. */
  init: ProcessRecord | null
  /** The API server's port on the host's loopback. */
  apiPort: number
  /** Its version. */
  kubernetes: KubernetesVersion
  /** Programs of the cluster, by their folder. */
  tools: string
  identities: Identity[]
  /** The one node; null for a control plane alone. */
  nodeName: string | null
}

/** The API server's address inside the namespace: the same in every cluster. */
export const insideApiAddress = '127.0.0.1:6443'
export const nodeAddress = '10.10.0.1'

export function clustersFolder(): string {
  return join(tmpdir(), 'sluice-clusters')
}

export function stateFile(dir: string): string {
  return join(dir, 'state.json')
}

export async function writeInfo(info: ClusterInfo): Promise<void> {
  await mkdir(info.dir, { recursive: true })
  await writeJson(stateFile(info.dir), info)
}

/** By the path of a state file or of the work folder. */
export async function readInfo(path: string): Promise<ClusterInfo> {
  const file = path.endsWith('.json') ? path : stateFile(path)
  return JSON.parse(await readFile(file, 'utf8')) as ClusterInfo
}

export async function listInfos(): Promise<ClusterInfo[]> {
  const names = await readdir(clustersFolder()).catch(() => [])
  const infos = await Promise.all(names.map((name) => readInfo(join(clustersFolder(), name)).catch(() => undefined)))
  return infos.filter((info) => info !== undefined)
}

/** Never leaves half a file behind for a reader. */
export async function writeJson(path: string, value: unknown): Promise<void> {
  const unfinished = `${path}.${process.pid}.tmp`
  await writeFile(unfinished, `${JSON.stringify(value, null, 2)}\n`)
  await rename(unfinished, path)
}
