import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { insideApiAddress } from './cluster-info.ts'
import type { ClusterInfo } from './cluster-info.ts'

/** The place where the kubeconfig is used: on the host, or in the network of the cluster. */
export type KubeconfigFrom = 'host' | 'inside'

export async function kubeconfigText(info: ClusterInfo, user: string, from: KubeconfigFrom, token?: string): Promise<string> {
  const bearer = token ?? info.identities.find((identity) => identity.user === user)?.token
  if (bearer === undefined) {
    const known = info.identities.map((identity) => identity.user).join(', ')
    throw new Error(`no token for user ${user}; known: ${known} (startCluster's "identities" adds more)`)
  }
  const ca = await readFile(join(info.dir, 'certs', 'ca.crt'))
  const server = from === 'inside' ? insideApiAddress : `127.0.0.1:${info.apiPort}`
  // JSON is YAML, so every client can read it.
  return `${JSON.stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        { name: info.id, cluster: { server: `https://${server}`, 'certificate-authority-data': ca.toString('base64') } },
      ],
      users: [{ name: user, user: { token: bearer } }],
      contexts: [{ name: user, context: { cluster: info.id, user } }],
      'current-context': user,
    },
    null,
    2,
  )}\n`
}
