import { rm, writeFile } from 'node:fs/promises'

/** Writes a kubeconfig that only this user may read: whoever reads it may do everything. Replaces what is there. */
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
  // The mode is taken for a new file alone.
  await rm(file, { force: true })
  await writeFile(file, `${JSON.stringify(config, undefined, 2)}\n`, { mode: 0o600, flag: 'wx' })
}
