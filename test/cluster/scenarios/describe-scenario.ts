import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeOnCluster } from '../shared-cluster.ts'
import type { UpgradeBed } from '../upgrade-bed.ts'
import { seededRandom } from './random.ts'
import type { Scenario } from './scenario.ts'

/**
 * Describes a few runs of a scenario, at the most important moments. `npm run chaos` has many runs. The index chooses the moment, and the
 * seed decides the rest.
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
