import { rm, writeFile } from 'node:fs/promises'

/** Writes a kubeconfig, and replaces an existing file. Only its owner may read it: the URL in it permits everything. */
export async function writeKubeconfig(file: string, url: string): Promise<void> {
  const name = 'embedded'
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster: { server: url } }],
    users: [{ name, user: {} }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: 'default' } }],
  }
  // The mode applies to a new file only.
  await rm(file, { force: true })
  await writeFile(file, `${JSON.stringify(config, undefined, 2)}\n`, { mode: 0o600, flag: 'wx' })
}
