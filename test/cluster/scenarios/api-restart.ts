import { setTimeout as sleep } from 'node:timers/promises'
import { judge } from './judge.ts'
import type { Scenario } from './scenario.ts'
import { exitProblems } from './scenario.ts'
import { openWebBed, RUNS_PER_WEB_BED, watchWebUpgrade } from './web-bed.ts'

/** The API server is killed and started again during the upgrade: all watches break, and each call may have been done or not. */
export const apiRestart: Scenario = {
  name: 'api-restart',
  runs: 15,
  runsPerBed: RUNS_PER_WEB_BED,
  open: (cluster, namespace) => openWebBed(cluster, namespace),
  async run(bed, random) {
    const delayMs = random.between(0, 8_000)
    const upgrade = await watchWebUpgrade(bed)
    const sluice = bed.start(upgrade.command)
    await sluice.seen(({ type }) => type === 'started')
    await Promise.race([sleep(delayMs), sluice.exit])
    await bed.cluster.apiServer.restart()
    const exit = await sluice.exit
    // After some restarts the watches of the controller manager return a minute late, and so does its count, which is not judged here.
    await bed.cluster.controllerManager.restart()
    const { history } = await upgrade.end()
    return { note: `restarted ${delayMs} ms after the start`, problems: [...exitProblems(exit, 0), ...judge(history)] }
  },
}
