import { existsSync } from 'node:fs'
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import { parse as parseYaml, YAMLParseError } from 'yaml'
import { describeCause } from './describe-cause.ts'
import { field, stringField } from './json.ts'
import { KubeConfigError } from './kubeconfig-error.ts'
import { readNamedFile } from './read-named-file.ts'

export type Cluster = KubeConfig['clusters'][number]
export type User = KubeConfig['users'][number]
export type Context = KubeConfig['contexts'][number]

/** A user or cluster as client-node reads it, beside what it leaves out. */
export interface Entry<T> {
  entry: T
  /** `user` or `cluster` of the file, not checked. */
  raw: unknown
  /** Folder of its file: relative paths start there. */
  folder: string
}

/** What all files together say. */
export interface MergedKubeConfig {
  files: string[]
  clusters: Map<string, Entry<Cluster>>
  users: Map<string, Entry<User>>
  contexts: Map<string, Context>
  currentContext: string | undefined
}

export interface KubeConfigPlaces {
  /** From `--kubeconfig`. */
  kubeconfig?: string | undefined
  env: NodeJS.ProcessEnv
  home: string
}

/**
 * Where to read: the one that was asked for, else those in KUBECONFIG, else ~/.kube/config. Empty where there is none
 * (in a cluster). As in kubectl, those missing from the list in KUBECONFIG are passed over, but not all of them.
 */
export function findKubeConfigFiles({ kubeconfig, env, home }: KubeConfigPlaces): string[] {
  if (kubeconfig !== undefined) return [kubeconfig]
  const named = [...new Set((env['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== ''))]
  if (named.length > 0) {
    const found = named.filter((file) => existsSync(file))
    if (found.length > 0) return found
    throw new KubeConfigError(`KUBECONFIG names ${named.join(', ')}, which does not exist`, { files: named })
  }
  const usual = join(home, '.kube', 'config')
  return existsSync(usual) ? [usual] : []
}

/**
 * Reads the files and merges them as kubectl does: of two entries with one name the first counts, and so does the
 * first current-context. (client-node refuses the first and takes the last of the second.)
 */
export function readKubeConfigFiles(files: string[]): MergedKubeConfig {
  const merged: MergedKubeConfig = {
    files,
    clusters: new Map(),
    users: new Map(),
    contexts: new Map(),
    currentContext: undefined,
  }
  for (const file of files) mergeFile(merged, file)
  return merged
}

function mergeFile(merged: MergedKubeConfig, file: string): void {
  const folder = dirname(file)
  const text = readText(file)
  // One of comments alone is as empty, for kubectl too.
  if (text.replaceAll(/^\s*#.*$/gm, '').trim() === '') return
  const { document, config } = parse(text, file)
  config.makePathsAbsolute(folder)
  const rawClusters = rawEntries(document, 'clusters', 'cluster')
  const rawUsers = rawEntries(document, 'users', 'user')
  for (const entry of config.clusters) setFirst(merged.clusters, entry.name, { entry, raw: rawClusters.get(entry.name), folder })
  for (const entry of config.users) setFirst(merged.users, entry.name, { entry, raw: rawUsers.get(entry.name), folder })
  for (const context of config.contexts) setFirst(merged.contexts, context.name, context)
  merged.currentContext ||= config.currentContext || undefined
}

function readText(file: string): string {
  try {
    return readNamedFile(file).toString('utf8')
  } catch (error) {
    throw new KubeConfigError(`kubeconfig ${file} cannot be read: ${describeCause(error)}`, { files: [file], cause: error })
  }
}

function parse(text: string, file: string): { document: unknown; config: KubeConfig } {
  try {
    // Not by client-node's own parser alone: in the bundle it is this one, and a mistake reads the same.
    const document: unknown = parseYaml(text, { merge: true })
    const config = new KubeConfig()
    // An entry that is not whole only matters where it is used, and is missing there.
    config.loadFromString(text, { onInvalidEntry: 'filter' })
    if (typeof document !== 'object' || document === null) throw new TypeError('it is no mapping')
    return { document, config }
  } catch (error) {
    throw new KubeConfigError(`kubeconfig ${file} cannot be parsed${mistake(error)}`, { files: [file] })
  }
}

/** The message and the cause of a YAML error quote the lines around it, which may hold a token; its code does not. */
function mistake(error: unknown): string {
  if (error instanceof YAMLParseError) {
    const line = error.linePos?.[0].line
    const where = line === undefined ? '' : ` in line ${line}`
    return `${where}: ${error.code.toLowerCase().replaceAll('_', ' ')}`
  }
  return `: ${error instanceof TypeError ? error.message : 'it is no kubeconfig'}`
}

function rawEntries(document: unknown, list: string, kind: string): Map<string, unknown> {
  const entries = new Map<string, unknown>()
  const found = field(document, list)
  for (const each of Array.isArray(found) ? found : []) {
    const name = stringField(each, 'name')
    if (name !== undefined) setFirst(entries, name, field(each, kind))
  }
  return entries
}

function setFirst<T>(map: Map<string, T>, name: string, value: T): void {
  if (!map.has(name)) map.set(name, value)
}

/** A path of a kubeconfig, which is relative to its folder. */
export function fromFolder(folder: string, path: string): string {
  return isAbsolute(path) ? path : join(folder, path)
}

/** A command without a slash is looked up in PATH, not beside the kubeconfig. */
export function commandFromFolder(folder: string, command: string): string {
  return basename(command) === command ? command : fromFolder(folder, command)
}
