import { judge } from './judge.ts'
import type { Scenario } from './scenario.ts'
import { exitProblems } from './scenario.ts'
import { openWebBed, RUNS_PER_WEB_BED, watchWebUpgrade, WEB_PODS } from './web-bed.ts'

/** The delay exceeds the time that sluice waits for an answer, so that the pod could be back in rotation long before. */
const LATE_MS = 16_000

/**
 * A drain gets no answer, is sent again, and still reaches HAProxy late. No state can be safe from that, so the pod must not be put back
 * while the first drain may still be on its way.
 */
export const lateDrain: Scenario = {
  name: 'late-drain',
  runs: 5,
  runsPerBed: RUNS_PER_WEB_BED,
  open: (cluster, namespace) => openWebBed(cluster, namespace),
  async run(bed, random) {
    const pod = random.pick(WEB_PODS)
    const { recorder } = bed.haproxy
    let delayed = false
    await recorder.setFaults({
      delayMs(line) {
        if (delayed || !line.includes(`/${pod} state drain`)) return 0
        delayed = true
        return LATE_MS
      },
    })
    const upgrade = await watchWebUpgrade(bed)
    const exit = await bed.start(upgrade.command).exit
    await recorder.setFaults({})
    const { history } = await upgrade.end()
    return {
      note: `drain of ${pod} ${LATE_MS} ms late`,
      problems: [...(delayed ? [] : ['no drain was delayed']), ...exitProblems(exit, 0), ...judge(history)],
    }
  },
}
