import type { KubeClient } from '../kube/client.ts'
import type { OtherServer, OtherTrust } from '../kube/other-server.ts'
import type { ConnectOptions as ConnectionOptions } from '../kube/connect.ts'

/** A connection to a cluster, with the credentials of one user. */
export interface Cluster {
  client: KubeClient
  /** The default namespace of requests: the requested one, else that of the context, else that of this process's pod, else `default`. */
  namespace: string
  /** The kubeconfig file, if the caller named one. A lock that names only a context means a context of this file. */
  kubeconfig?: string | undefined
  /** Another server of the cluster's control plane, with the credentials of this one. */
  other?(url: string, trust: OtherTrust): OtherServer
  /** Closes the connection; requests under way are cancelled. */
  close(): Promise<void>
}

/** Connection options with kubectl's meaning. The kubeconfig, or the service account of the pod, supplies the options that are left out. */
export interface ConnectOptions extends Partial<Omit<ConnectionOptions, 'surroundings'>> {
  signal?: AbortSignal
}
