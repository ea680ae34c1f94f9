import type { SyncedService } from '../model.ts'

/** The way to a cluster. Paths are absolute. Without `kubeconfig`, the files and variables of kubectl apply. */
export type ClusterWay =
  | { readonly is: 'in-cluster' }
  | { readonly is: 'kubeconfig'; readonly kubeconfig?: string; readonly context?: string }

/** A config of `sluice sync`, checked, with its defaults filled in. */
export interface SyncConfig {
  readonly access: ClusterWay
  readonly sources: readonly { readonly name: string; readonly way: ClusterWay }[]
  readonly services: readonly SyncedService[]
}
