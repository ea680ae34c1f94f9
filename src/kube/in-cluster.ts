import { existsSync } from 'node:fs'
import { KubeConfig } from '@kubernetes/client-node'
import { stringField, field } from './json.ts'
import type { MergedKubeConfig } from './kubeconfig-files.ts'

/**
 * The service account of the pod that we run in, as a kubeconfig; undefined outside a cluster. `root` is where the
 * service account's folder is mounted below, for tests.
 */
export function inClusterConfig(env: NodeJS.ProcessEnv, root = ''): MergedKubeConfig | undefined {
  const tokenFile = `${root}/var/run/secrets/kubernetes.io/serviceaccount/token`
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env
  if (host === undefined || port === undefined || !existsSync(tokenFile)) return undefined
  const config = new KubeConfig()
  config.loadFromCluster(root)
  const [cluster] = config.clusters
  const [user] = config.users
  const [context] = config.contexts
  if (cluster === undefined || user === undefined || context === undefined) return undefined
  // The token rotates: its file is read again by us, so that a refused token is too.
  const path = stringField(field(user.authProvider, 'config'), 'tokenFile') ?? tokenFile
  return {
    files: [],
    clusters: new Map([[cluster.name, { entry: cluster, raw: {}, folder: '/' }]]),
    users: new Map([[user.name, { entry: { name: user.name }, raw: { tokenFile: path }, folder: '/' }]]),
    contexts: new Map([[context.name, context]]),
    currentContext: context.name,
  }
}
