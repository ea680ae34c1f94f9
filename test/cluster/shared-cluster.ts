import { afterAll, beforeAll, describe, inject } from 'vitest'
import { connectCluster } from './cluster.ts'
import type { Cluster } from './cluster.ts'
import type { SharedCluster } from './global-setup.ts'

/**
 * A `describe` whose tests run on the shared cluster. Where no cluster can run, the tests are skipped with the reason. The body gets a
 * function, since the connection exists only while the tests run.
 */
export function describeOnCluster(name: string, body: (cluster: () => Cluster) => void): void {
  const shared: SharedCluster | undefined = inject('cluster')
  if (shared === undefined) {
    throw new Error('the project of this test must have test/cluster/global-setup.ts as its globalSetup')
  }
  if (!shared.available) {
    describe.skip(`${name} (needs ${shared.missing.join('; ')})`, () => {
      body(unavailable)
    })
    return
  }
  // oxlint-disable-next-line vitest/valid-title
  describe(name, () => {
    let cluster: Cluster | undefined
    beforeAll(async () => {
      cluster = await connectCluster(shared.stateFile)
    })
    afterAll(() => cluster?.disconnect())
    body(() => cluster ?? unavailable())
  })
}

function unavailable(): never {
  throw new Error('the cluster can be used only while a test runs')
}
