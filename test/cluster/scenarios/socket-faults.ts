import { setTimeout as sleep } from 'node:timers/promises'
import type { RecorderFaults } from '../haproxy-recorder.ts'
import { judge } from './judge.ts'
import type { Random } from './random.ts'
import type { Scenario } from './scenario.ts'
import { exitProblems } from './scenario.ts'
import { openWebBed, RUNS_PER_WEB_BED, watchWebUpgrade } from './web-bed.ts'

export const FAULTS = ['dropReply', 'loseCommand', 'cut', 'hangReply', 'refuse'] as const
export type Fault = (typeof FAULTS)[number]

/** The admin socket of HAProxy misbehaves: replies are lost, commands are lost, or it gives no answer for some seconds. */
export const socketFaults: Scenario = {
  name: 'socket-faults',
  runs: 25,
  runsPerBed: RUNS_PER_WEB_BED,
  open: (cluster, namespace) => openWebBed(cluster, namespace),
  async run(bed, random, index) {
    const fault = FAULTS[index % FAULTS.length]!
    const { recorder } = bed.haproxy
    const upgrade = await watchWebUpgrade(bed)
    const hits: string[] = []
    if (fault !== 'cut' && fault !== 'refuse') await recorder.setFaults(faultOnEffects(fault, random, hits))
    const sluice = bed.start(upgrade.command)
    if (fault === 'cut' || fault === 'refuse') {
      await sluice.seen(({ type }) => type === 'started')
      await sleep(random.between(0, 5_000))
      await recorder.setFaults({ [fault]: true })
      await sleep(random.between(500, 4_000))
      await recorder.setFaults({})
    }
    const exit = await sluice.exit
    await recorder.setFaults({})
    const { history } = await upgrade.end()
    return {
      note: `${fault}${hits.length > 0 ? ` of ${hits.join(', ')}` : ''}`,
      problems: [...exitProblems(exit, 0), ...judge(history)],
    }
  },
}

/** Puts a fault on half of the lines that change a server. A hanging line costs a whole call, so only the first of them hangs. */
function faultOnEffects(fault: 'dropReply' | 'loseCommand' | 'hangReply', random: Random, hits: string[]): RecorderFaults {
  return {
    [fault](line: string): boolean {
      const change = /set server \w+\/(\S+) state (\w+)/.exec(line)
      if (change === null || random.next() < 0.5 || (fault === 'hangReply' && hits.length > 0)) return false
      hits.push(`${change[1]} ${change[2]}`)
      return true
    },
  }
}
