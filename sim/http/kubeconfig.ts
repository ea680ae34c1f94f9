import { rm, writeFile } from 'node:fs/promises'

/** Writes a kubeconfig, and replaces an existing file. Only its owner may read it: the URL in it permits everything. */
export function writeKubeconfig(file: string, url: string): Promise<void> {
  return writeContexts(file, { embedded: url })
}

/** Writes a kubeconfig with a context for each name. The first is the current one. */
export async function writeContexts(file: string, urls: Readonly<Record<string, string>>): Promise<void> {
  const names = Object.keys(urls)
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': names[0],
    clusters: names.map((name) => ({ name, cluster: { server: urls[name] } })),
    users: names.map((name) => ({ name, user: {} })),
    contexts: names.map((name) => ({ name, context: { cluster: name, user: name, namespace: 'default' } })),
  }
  // The mode applies to a new file only.
  await rm(file, { force: true })
  await writeFile(file, `${JSON.stringify(config, undefined, 2)}\n`, { mode: 0o600, flag: 'wx' })
}
