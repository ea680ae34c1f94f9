import { setTimeout as sleep } from 'node:timers/promises'
import type { PodState, RunEvent } from '../../../src/engine/events.ts'
import type { SluiceProcess } from '../upgrade-bed.ts'
import { judge } from './judge.ts'
import type { Random } from './random.ts'
import type { Scenario } from './scenario.ts'
import { exitProblems } from './scenario.ts'
import { openWebBed, RUNS_PER_WEB_BED, watchWebUpgrade, WEB_PODS } from './web-bed.ts'

/** A moment at an event, or at a delay after it. */
export interface Moment {
  name: string
  event: (event: RunEvent) => boolean
  delayMs: number
}

const STATES: PodState[] = [
  'checking',
  'draining',
  'emptying',
  'patching',
  'restarting',
  'warming',
  'restoring',
  'verifying',
  'closing',
]

export function enters(pod: string, state: PodState): (event: RunEvent) => boolean {
  return (event) => event.type === 'podState' && event.pod === pod && event.to === state
}

/** Chooses a moment: in turn at a boundary between two steps, and at any time. */
function chooseMoment(random: Random, index: number): Moment {
  if (index % 10 === 9) return { name: 'planned', event: ({ type }) => type === 'planned', delayMs: random.between(0, 250) }
  if (index % 5 === 4) return { name: 'started', event: ({ type }) => type === 'started', delayMs: random.between(0, 6_000) }
  const pod = random.pick(WEB_PODS)
  const state = STATES[(index + Math.floor(index / STATES.length)) % STATES.length]!
  return { name: `${pod} ${state}`, event: enters(pod, state), delayMs: random.between(0, 50) }
}

/** Waits for a moment. Returns false where the process ended before it. */
export async function waitForMoment(sluice: SluiceProcess, { event, delayMs }: Moment): Promise<boolean> {
  await sluice.seen(event)
  await Promise.race([sleep(delayMs), sluice.exit])
  return sluice.child.exitCode === null
}

/** sluice is killed by SIGKILL at any moment, and the command runs again: one drain and one restore for each pod in all. */
export const killSluice: Scenario = {
  name: 'kill-sluice',
  runs: 30,
  runsPerBed: RUNS_PER_WEB_BED,
  open: (cluster, namespace) => openWebBed(cluster, namespace),
  async run(bed, random, index) {
    const moment = chooseMoment(random, index)
    const upgrade = await watchWebUpgrade(bed)
    const first = bed.start(upgrade.command)
    const hit = await waitForMoment(first, moment)
    first.child.kill('SIGKILL')
    await first.exit
    const second = await bed.start(upgrade.command).exit
    const { history } = await upgrade.end()
    return {
      note: `killed ${moment.delayMs} ms after ${moment.name}${hit ? '' : ' (it had ended)'}`,
      problems: [...exitProblems(second, 0), ...judge(history)],
    }
  },
}
