import { afterAll, beforeAll, expect, it } from 'vitest'
import { apiRestart } from './scenarios/api-restart.ts'
import { killApp } from './scenarios/kill-app.ts'
import { killSluice } from './scenarios/kill-sluice.ts'
import { seededRandom } from './scenarios/random.ts'
import type { Scenario } from './scenarios/scenario.ts'
import { takeover } from './scenarios/takeover.ts'
import { describeOnCluster } from './shared-cluster.ts'
import type { UpgradeBed } from './upgrade-bed.ts'

/*
 * A few runs of each scenario, at the moments that matter most; `npm run chaos` has the many. The numbers choose the
 * moment, and the seed what is left to chance.
 */

function describeScenario(title: string, scenario: Scenario, runs: [does: string, index: number][]): void {
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

const promise = 'one drain and one restore a pod in all, no failed request'

describeScenario(`kill -9, then the same command: ${promise}`, killSluice, [
  ['killed while it drains', 1],
  ['killed while it patches', 3],
  ['killed at some moment', 4],
])

describeScenario(`kill -9, then the same command, once more: ${promise}`, killSluice, [
  ['killed while it restores', 6],
  ['killed before the first pod', 9],
])

describeScenario('the application killed around the PATCH: put back only when the new container serves', killApp, [
  ['before the PATCH', 0],
  ['after it', 1],
  ['after it, at another moment', 2],
  ['before it, at another moment', 3],
  ['after it, in a third pod', 4],
  ['after it, in a fourth pod', 5],
])

describeScenario(`SIGSTOP until another has taken over: ${promise}`, takeover, [
  ['woken when the other is done', 0],
  ['woken while the other works', 1],
])

describeScenario(`the API server restarted: ${promise}`, apiRestart, [
  ['early', 0],
  ['later', 1],
])
