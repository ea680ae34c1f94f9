import { setTimeout as sleep } from 'node:timers/promises'
import type { PodState } from '../../../src/engine/events.ts'
import { judge } from './judge.ts'
import { enters } from './kill-sluice.ts'
import type { Scenario } from './scenario.ts'
import { exitProblems } from './scenario.ts'
import { openWebBed, RUNS_PER_WEB_BED, watchWebUpgrade, WEB_PODS } from './web-bed.ts'

const STATES: PodState[] = ['emptying', 'restarting', 'draining', 'restoring', 'patching', 'warming', 'verifying']

/**
 * A process is stopped for longer than its Lease lives, as by a sleeping laptop or a frozen VM. Another process continues, and then the
 * first one wakes.
 */
export const takeover: Scenario = {
  name: 'takeover',
  runs: 14,
  runsPerBed: RUNS_PER_WEB_BED,
  open: (cluster, namespace) => openWebBed(cluster, namespace),
  async run(bed, random, index) {
    const state = STATES[index % STATES.length]!
    // On the way back of the last pod, the run may end before the stop.
    const isLate = state === 'restoring' || state === 'verifying'
    const pod = random.pick(isLate ? WEB_PODS.slice(0, -1) : WEB_PODS)
    const delayMs = random.between(0, 50)
    const wakesMeanwhile = index % 2 === 1
    const upgrade = await watchWebUpgrade(bed)
    const first = bed.start(upgrade.command)
    await first.seen(enters(pod, state))
    await sleep(delayMs)
    first.child.kill('SIGSTOP')
    const second = bed.start(upgrade.command)
    // The process wakes during the work of the other one, or after it.
    if (wakesMeanwhile) {
      await second.seen(({ type }) => type === 'started')
      await sleep(random.between(0, 1_000))
    } else {
      await second.exit
    }
    const effects = bed.haproxy.recorder.commands().length
    first.child.kill('SIGCONT')
    const woken = await first.exit
    const said = wakesMeanwhile ? 0 : bed.haproxy.recorder.commands().slice(effects).filter(isChange).length
    const taker = await second.exit
    const { history } = await upgrade.end()
    return {
      note: `stopped ${delayMs} ms after ${pod} ${state}, woken ${wakesMeanwhile ? 'meanwhile' : 'afterwards'}`,
      problems: [
        ...exitProblems(taker, 0),
        ...exitProblems(woken, 7),
        ...(said === 0 ? [] : [`when it woke it sent ${said} commands that change something`]),
        ...judge(history),
      ],
    }
  },
}

function isChange({ line }: { line: string }): boolean {
  return line.includes('set server')
}
