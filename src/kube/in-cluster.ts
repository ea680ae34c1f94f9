import { existsSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import { KubeConfigDocument } from './kubeconfig-document.ts'
import type { MergedKubeConfig } from './kubeconfig-files.ts'
import { readNamedFile } from './read-named-file.ts'

export interface ServiceAccount extends MergedKubeConfig {
  /** The namespace of the pod. */
  namespace: string | undefined
}

/**
 * The service account of this process's pod, as a kubeconfig; undefined outside of a cluster. `root` is the root folder of the mount, for
 * tests. The token is referred to as a file, because it rotates.
 */
export function inClusterConfig(env: NodeJS.ProcessEnv, root = ''): ServiceAccount | undefined {
  const folder = `${root}/var/run/secrets/kubernetes.io/serviceaccount`
  const tokenFile = `${folder}/token`
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env
  if (!host || !port || !existsSync(tokenFile)) return undefined
  const namespaceFile = `${folder}/namespace`
  const written = existsSync(namespaceFile) ? readNamedFile(namespaceFile).toString('utf8').trim() : ''
  // As in kubectl, the variable has precedence.
  const namespace = env['POD_NAMESPACE'] || written || undefined
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`
  const name = 'service account'
  const { clusters, users, contexts } = KubeConfigDocument.parse({
    clusters: [{ name, cluster: { server, 'certificate-authority': `${folder}/ca.crt` } }],
    users: [{ name, user: { tokenFile } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace } }],
  })
  return {
    files: [],
    clusters: new Map(clusters.map((each) => [each.name, each.cluster])),
    users: new Map(users.map((each) => [each.name, each.user])),
    contexts: new Map(contexts.map((each) => [each.name, each.context])),
    currentContext: name,
    namespace,
  }
}
