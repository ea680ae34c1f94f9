import type { KubeClient } from '../kube/client.ts'
import type { OtherServer, OtherTrust } from '../kube/other-server.ts'
import type { ConnectOptions as ConnectionOptions } from '../kube/connect.ts'

/** A way to a cluster, as one user. */
export interface Cluster {
  client: KubeClient
  /** Of requests that name none: asked for, else the context's, else that of the pod that the process runs in, else `default`. */
  namespace: string
  /** The file that it was asked for by, where it was. A lock that names a context alone means one of this file. */
  kubeconfig?: string | undefined
  /** Another server of the cluster, with the same credentials: one of its control plane. */
  other?(url: string, trust: OtherTrust): OtherServer
  /** Breaks off what is still asked. */
  close(): Promise<void>
}

/** As kubectl has them. What is left out comes from the kubeconfig, or from the service account of the pod. */
export interface ConnectOptions extends Partial<Omit<ConnectionOptions, 'surroundings'>> {
  signal?: AbortSignal
}
