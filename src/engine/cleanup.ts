import type { KubeClient } from '../kube/client.ts'
import type { WorkloadRef } from '../plan/plan.ts'
import type { Clock } from '../ports/clock.ts'

export interface CleanupRequest {
  namespace: string
  /** Empty: every workload in the namespace that has a record of sluice. */
  refs: Pick<WorkloadRef, 'kind' | 'name'>[]
  /** Say what would be removed, and remove nothing. */
  dryRun: boolean
}

export interface CleanupPorts {
  client: KubeClient
  clock: Clock
}

/** One object that sluice made. */
export interface CleanupRecord {
  /** Such as ConfigMap. */
  kind: string
  name: string
  /** Why it is removed, or kept. */
  reason: string
}

export interface CleanupReport {
  removed: CleanupRecord[]
  kept: CleanupRecord[]
}

/** Removes what no run needs any more. Never a record with an open target, and never a Lease. */
export async function cleanUp(_request: CleanupRequest, _ports: CleanupPorts): Promise<CleanupReport> {
  throw new Error('not yet')
}
