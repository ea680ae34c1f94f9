import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeOnCluster } from '../shared-cluster.ts'
import type { UpgradeBed } from '../upgrade-bed.ts'
import { seededRandom } from './random.ts'
import type { Scenario } from './scenario.ts'

/**
 * A few runs of a scenario, at the moments that matter most; `npm run chaos` has the many. The numbers choose the
 * moment, and the seed what is left to chance.
 */
export function describeScenario(title: string, scenario: Scenario, runs: [does: string, index: number][]): void {
  describeOnCluster(title, (cluster) => {
    let bed: UpgradeBed
    beforeAll(async () => {
      bed = await scenario.open(cluster(), `crash-${scenario.name}-${runs[0]![1]}`)
    })
    afterAll(() => bed?.stop())

    it.each(runs)('%s', async (_, index) => {
      const { note, problems } = await scenario.run(bed, seededRandom(index), index)
      expect(problems, note).toEqual([])
    })
  })
}

export const PROMISE = 'one drain and one restore a pod in all, no failed request'
