import { mkdir, readFile, readdir, rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KubernetesVersion } from './kubernetes-versions.ts'
import type { ProcessRecord } from './process-record.ts'

/** A user of the API server, with a token that is known from the start. */
export interface Identity {
  user: string
  groups: string[]
  token: string
}

/** The data that another process needs to use or to remove a cluster. It is kept in DIR/state.json. */
export interface ClusterInfo {
  id: string
  /** The work folder. The cluster writes only below it. */
  dir: string
  /** The process whose end also ends the cluster. Null for a cluster that stays until it is taken down. */
  owner: ProcessRecord | null
  /** Process 1 of the namespaces. Null until it has started. */
  init: ProcessRecord | null
  /** The port of the API server on the loopback of the host. */
  apiPort: number
  /** The version of Kubernetes. */
  kubernetes: KubernetesVersion
  /** The folder of the cluster's programs. */
  tools: string
  identities: Identity[]
  /** The name of the one node. Null for a control plane without a node. */
  nodeName: string | null
}

/** The address of the API server inside the namespace. It is the same in every cluster. */
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

/** Reads the data of a cluster, by the path of its state file or its work folder. */
export async function readInfo(path: string): Promise<ClusterInfo> {
  const file = path.endsWith('.json') ? path : stateFile(path)
  return JSON.parse(await readFile(file, 'utf8')) as ClusterInfo
}

export async function listInfos(): Promise<ClusterInfo[]> {
  const names = await readdir(clustersFolder()).catch(() => [])
  const infos = await Promise.all(names.map((name) => readInfo(join(clustersFolder(), name)).catch(() => undefined)))
  return infos.filter((info) => info !== undefined)
}

/** Writes a file at once: a reader never sees half of it. */
export async function writeJson(path: string, value: unknown): Promise<void> {
  const unfinished = `${path}.${process.pid}.tmp`
  await writeFile(unfinished, `${JSON.stringify(value, null, 2)}\n`)
  await rename(unfinished, path)
}
