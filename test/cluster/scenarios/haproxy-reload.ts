import { setTimeout as sleep } from 'node:timers/promises'
import type { PodState } from '../../../src/engine/events.ts'
import type { History } from './judge.ts'
import { judge } from './judge.ts'
import { enters } from './kill-sluice.ts'
import type { Scenario } from './scenario.ts'
import { exitProblems } from './scenario.ts'
import { openWebBed, RUNS_PER_WEB_BED, watchWebUpgrade, WEB_PODS } from './web-bed.ts'

const STATES: PodState[] = ['restarting', 'warming', 'emptying']

/**
 * HAProxy is reloaded or restarted without the state of its servers while a pod is drained. The pod comes back in rotation, which sluice
 * must see and undo. Failed requests until then are counted and excused.
 */
export const haproxyReload: Scenario = {
  name: 'haproxy-reload',
  runs: 12,
  runsPerBed: RUNS_PER_WEB_BED,
  open: (cluster, namespace) => openWebBed(cluster, namespace, { readyAfter: 2 }),
  async run(bed, random, index) {
    const pod = random.pick(WEB_PODS)
    const state = STATES[index % STATES.length]!
    const how = index % 2 === 0 ? 'reload' : 'restart'
    // Long requests keep `emptying` open. A reload closes idle connections, which is up to the client.
    const upgrade = await watchWebUpgrade(bed, { heldShare: 0.1, holdMs: 1_000, freshShare: 1 })
    const sluice = bed.start(upgrade.command)
    await sluice.seen(enters(pod, state))
    await sleep(random.between(0, 200))
    const forgottenAt = Date.now()
    await (how === 'reload' ? bed.haproxy.reload() : bed.haproxy.restart())
    const exit = await sluice.exit
    const { history } = await upgrade.end()
    const own = history.effects.filter(({ server, effective }) => server === pod && effective)
    const again = own.filter(({ kind, at }) => kind === 'drain' && at >= forgottenAt)
    const inWindow = ({ at }: History['failures'][number]): boolean =>
      at >= forgottenAt - 2_000 && at <= (again[0]?.at ?? forgottenAt) + 1_000
    const failed = history.failures.filter(inWindow).length
    return {
      note: `${how} in ${pod} ${state}: drained again after ${again[0] ? again[0].at - forgottenAt : '-'} ms, ${failed} requests failed until then`,
      problems: [
        ...exitProblems(exit, 0),
        ...(again.length === 1 ? [] : [`${pod} was drained ${again.length} times after HAProxy had forgotten it`]),
        // The first drain is the one that HAProxy forgot.
        ...judge({ ...history, effects: history.effects.filter((effect) => effect !== own[0]) }, { excused: inWindow }),
      ],
    }
  },
}
