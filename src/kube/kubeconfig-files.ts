import { existsSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import { describeCause } from './describe-cause.ts'
import { fieldProblem } from './field-problem.ts'
import { parseGoYaml, yamlMistake } from './go-yaml.ts'
import { KubeConfigDocument, type ClusterFields, type ContextFields, type UserFields } from './kubeconfig-document.ts'
import { KubeConfigError } from './kubeconfig-error.ts'
import { readNamedFile } from './read-named-file.ts'

/** The merged content of all files. Every path is absolute. */
export interface MergedKubeConfig {
  files: string[]
  clusters: Map<string, ClusterFields>
  users: Map<string, UserFields>
  contexts: Map<string, ContextFields>
  currentContext: string | undefined
}

export interface KubeConfigPlaces {
  /** The file of `--kubeconfig`. */
  kubeconfig?: string | undefined
  env: NodeJS.ProcessEnv
  home: string
}

/**
 * The files to read: the requested file, else those of KUBECONFIG, else ~/.kube/config. As in kubectl, missing files of the list in
 * KUBECONFIG are ignored.
 */
export function findKubeConfigFiles({ kubeconfig, env, home }: KubeConfigPlaces): string[] {
  if (kubeconfig !== undefined) return [kubeconfig]
  const named = namedKubeConfigFiles(env)
  return (named.length > 0 ? named : [join(home, '.kube', 'config')]).filter((file) => existsSync(file))
}

/** The files of KUBECONFIG, including missing ones. */
export function namedKubeConfigFiles(env: NodeJS.ProcessEnv): string[] {
  return [...new Set((env['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== ''))]
}

/**
 * Reads the files and merges them as kubectl does: the first of two entries with the same name counts, and so does the first
 * current-context.
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
  const folder = resolve(dirname(file))
  const document = parse(readText(file), file)
  const at = (path: string | undefined) => path && fromFolder(folder, path)
  setFirst(merged.clusters, file, 'clusters', document.clusters, ({ cluster }) => ({
    ...cluster,
    'certificate-authority': at(cluster['certificate-authority']),
  }))
  setFirst(merged.users, file, 'users', document.users, ({ user }) => ({
    ...user,
    'client-certificate': at(user['client-certificate']),
    'client-key': at(user['client-key']),
    tokenFile: at(user.tokenFile),
    exec: user.exec && { ...user.exec, command: commandFromFolder(folder, user.exec.command) },
  }))
  setFirst(merged.contexts, file, 'contexts', document.contexts, ({ context }) => context)
  merged.currentContext ??= document['current-context']
}

function readText(file: string): string {
  try {
    return readNamedFile(file).toString('utf8')
  } catch (error) {
    throw new KubeConfigError(`kubeconfig ${file} cannot be read: ${describeCause(error)}`, { files: [file], cause: error })
  }
}

function parse(text: string, file: string): KubeConfigDocument {
  const fail = (why: string): never => {
    throw new KubeConfigError(`kubeconfig ${file} cannot be parsed${why}`, { files: [file] })
  }
  let content: unknown
  try {
    content = parseGoYaml(text)
  } catch (error) {
    return fail(yamlMistake(error) ?? ': it is no YAML')
  }
  if (content != null && (typeof content !== 'object' || Array.isArray(content))) fail(': it is no mapping')
  const read = KubeConfigDocument.safeParse(content)
  if (read.success) return read.data
  // kubectl refuses the whole file too, whichever entry is invalid.
  return fail(`: ${read.error.issues.map((issue) => fieldProblem(issue, content)).join('; ')}`)
}

function setFirst<T, E extends { name: string }>(
  merged: Map<string, T>,
  file: string,
  list: string,
  entries: E[],
  read: (entry: E) => T,
): void {
  const seen = new Set<string>()
  for (const entry of entries) {
    const { name } = entry
    if (seen.has(name)) {
      const why = `two entries of ${list} have the name ${JSON.stringify(name)}: remove one of them`
      throw new KubeConfigError(`kubeconfig ${file} cannot be used: ${why}`, { files: [file] })
    }
    seen.add(name)
    if (!merged.has(name)) merged.set(name, read(entry))
  }
}

/** A path of a kubeconfig is relative to the folder of its file; `~` has no special meaning. */
function fromFolder(folder: string, path: string): string {
  return isAbsolute(path) ? path : join(folder, path)
}

/** A command without a slash is searched in PATH, not beside the kubeconfig. */
function commandFromFolder(folder: string, command: string): string {
  return command.includes('/') ? fromFolder(folder, command) : command
}
