import { describe, expect, it } from 'vitest'
import { realAnswers } from './api-answers.ts'
import { startCluster } from './cluster.ts'
import { clusterSupport } from './support.ts'

const { available } = await clusterSupport()

describe.skipIf(!available)('what the embedded API server is measured by', () => {
  it('is still what the real one answers', async () => {
    // The test has a cluster of its own, since the API server is restarted and etcd compacted. With `-u`, the answers are recorded again.
    const cluster = await startCluster({ kubelet: false })
    try {
      const answers = await realAnswers(cluster)
      await expect(`${JSON.stringify(answers, null, 2)}\n`).toMatchFileSnapshot('../golden/api-answers.json')
    } finally {
      await cluster.disconnect()
      await cluster.stop()
    }
  })
})
