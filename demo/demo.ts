import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Act } from './acts/act.ts'
import { aggregation } from './acts/aggregation.ts'
import { patchAndTrust } from './acts/patch-and-trust.ts'
import { play } from './acts/play.ts'
import type { ActResult } from './acts/result.ts'
import { sluiceAct } from './acts/sluice.ts'
import type { BalancerName } from './balancers/balancer.ts'
import { startEmbedded } from './balancers/embedded.ts'
import { startHaproxy } from './balancers/haproxy.ts'
import { imageOf } from './cluster/manifests.ts'
import { faults } from './judge.ts'
import { createChildren } from './processes/children.ts'
import { configIn, setStage } from './stage.ts'
import { temporaryFolder } from './temporary-folder.ts'
import type { Show } from './view/show.ts'

export interface DemoOptions {
  balancer: BalancerName
  pods: number
  /** The path for the report of the last act. The default is a new file in the temporary folder. */
  report: string | undefined
  /** The path of the script of sluice's command line. */
  program: string
  show: Show
}

export interface Demo {
  /**
   * Plays the three acts. Resolves to false where sluice did not keep its promise. Rejects with a DemoError where the demo cannot run.
   */
  play(): Promise<boolean>
  /** Ends every process, and leaves no file except the report, at any moment, also during `play`. */
  end(): Promise<void>
  /** Does the part of `end` that needs no waiting. */
  kill(): void
}

export function createDemo({ balancer, pods, report, program, show }: DemoOptions): Demo {
  const children = createChildren()
  const folder = temporaryFolder('sluice-demo-')
  const config = configIn(folder)
  const reportFolder = report === undefined ? temporaryFolder('sluice-report-') : undefined
  const reportFile = report ?? join(reportFolder!, 'report.html')

  function removeFiles(): void {
    rmSync(folder, { recursive: true, force: true })
    if (reportFolder !== undefined && !existsSync(reportFile)) rmSync(reportFolder, { recursive: true, force: true })
  }

  return {
    async play() {
      show.preparing(pods)
      const start = balancer === 'haproxy' ? startHaproxy : startEmbedded
      const stage = await setStage(children, { start, pods, folder, config })
      show.ready(stage)
      const acts: Act[] = [patchAndTrust, aggregation, sluiceAct({ children, program, config, report: reportFile })]
      const results: ActResult[] = []
      for (const [index, act] of acts.entries()) {
        const onAct = show.begin(index + 1, act)
        const result = await play(act, imageOf(index + 2), { ...stage, children, onAct })
        show.end(result)
        results.push(result)
      }
      const found = faults(results.at(-1)!)
      show.conclude(results, found, existsSync(reportFile) ? reportFile : undefined)
      return found.length === 0
    },
    async end() {
      await children.end()
      removeFiles()
    },
    kill() {
      children.kill()
      removeFiles()
    },
  }
}
