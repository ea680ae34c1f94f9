import { afterAll, beforeAll, describe, inject } from 'vitest'
import { connectCluster } from './cluster.ts'
import type { Cluster } from './cluster.ts'
import type {} from './global-setup.ts'

/**
 * A `describe` whose tests run on the shared cluster; where none can run they are skipped and say why.
 * The body gets a function, because the connection is there only once the tests run.
 */
export function describeOnCluster(name: string, body: (cluster: () => Cluster) => void): void {
  const shared = inject('cluster')
  if (!shared.available) {
    describe.skip(`${name} (needs ${shared.missing.join('; ')})`, () => body(unavailable))
    return
  }
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
