import type { TestProject } from 'vitest/node'
import { startCluster } from './cluster.ts'
import { clusterSupport } from './support.ts'
import { tally } from './tally.ts'

/** The data that test files get about their shared cluster. */
export type SharedCluster = { available: true; stateFile: string } | { available: false; missing: string[] }

declare module 'vitest' {
  interface ProvidedContext {
    cluster: SharedCluster
  }
}

/**
 * Starts one cluster for all test files of the project. SLUICE_CLUSTER can name the state file of a running cluster (`npm run cluster`
 * prints it), which the tests then use instead.
 */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const running = process.env['SLUICE_CLUSTER']
  if (running !== undefined && running !== '') {
    project.provide('cluster', { available: true, stateFile: running })
    return undefined
  }
  const support = await clusterSupport()
  if (!support.available) {
    console.warn(`Tests on a real cluster are skipped. Missing: ${support.missing.join('; ')}`)
    project.provide('cluster', support)
    return undefined
  }
  const cluster = await startCluster({ nodeMonitorGracePeriodMs: sharedGracePeriodMs })
  tally({ kubernetes: (await cluster.api.request('GET', '/version')).gitVersion })
  project.provide('cluster', { available: true, stateFile: cluster.stateFile })
  return () => cluster.stop()
}

/** The grace period is short, so that tests can make the node go silent. The kubelet reports every second. */
const sharedGracePeriodMs = 6_000
