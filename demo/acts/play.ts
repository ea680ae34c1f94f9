import { setTimeout as sleep } from 'node:timers/promises'
import { DemoError } from '../demo-error.ts'
import type { Children } from '../processes/children.ts'
import type { RotationChange } from '../rotation/change.ts'
import { watchRotation } from '../rotation/watch.ts'
import type { GeneratorOptions } from '../traffic/generator.ts'
import { startTraffic } from '../traffic/start.ts'
import type { Act, Stage } from './act.ts'
import { isHome, readPods } from './home.ts'
import type { ActResult } from './result.ts'

export const TRAFFIC: Omit<GeneratorOptions, 'url'> = {
  ratePerSecond: 100,
  heldShare: 0.1,
  holdMs: 300,
  freshShare: 0.5,
  timeoutMs: 10_000,
}
const POLL_MS = 50
/**
 * The delay after the return of the first pod. By then a restart is under way: its own where the pod returned too early, else that of
 * the next pod.
 */
const HEARTBEAT_AFTER_MS = 1_200
/** The picture begins and ends with pods at rest. */
const QUIET_BEFORE_MS = 500
const QUIET_AFTER_MS = 300
/** A pod that is not home by then will not come. */
const HOME_LIMIT_MS = 60_000

/** Receives the act in progress. Its `result` grows. */
export type OnAct = (result: ActResult) => void

/** Upgrades all pods in one way, under traffic, and returns the result as seen from outside. */
export async function play(act: Act, image: string, stage: Stage & { children: Children; onAct: OnAct }): Promise<ActResult> {
  const { cluster, balancer, children } = stage
  const changes: RotationChange[] = []
  const silences: { from: number; to?: number }[] = []
  let heartbeat: Promise<void> | undefined

  async function delayHeartbeat(): Promise<void> {
    await sleep(HEARTBEAT_AFTER_MS)
    const silence: { from: number; to?: number } = { from: Date.now() }
    silences.push(silence)
    await cluster.delayHeartbeat()
    silence.to = Date.now()
  }

  function onChange(change: RotationChange): void {
    changes.push(change)
    if (act.hasLateHeartbeat && change.pod === cluster.pods[0] && change.isIn) heartbeat ??= delayHeartbeat()
  }

  async function untilHome(): Promise<void> {
    const giveUpAt = performance.now() + HOME_LIMIT_MS
    while (!(await isHome(stage, before))) {
      if (performance.now() > giveUpAt) throw new DemoError(`the pods did not come home in the act "${act.name}"`)
      await sleep(POLL_MS)
    }
  }

  const before = await readPods(stage)
  const traffic = startTraffic(children, { ...TRAFFIC, url: balancer.url })
  await traffic.begun
  const startedAt = Date.now()
  const result = (): ActResult => ({
    name: act.name,
    pods: cluster.pods,
    startedAt,
    homeAt: Date.now(),
    endedAt: Date.now(),
    requests: traffic.tally.requests,
    failures: traffic.tally.failures,
    changes,
    silences,
  })
  const showing = setInterval(() => stage.onAct(result()), 100)
  try {
    const rotation = await watchRotation(balancer.look, onChange)
    await sleep(QUIET_BEFORE_MS)
    const complaint = await act.upgrade(stage, image)
    if (complaint === undefined) await untilHome()
    const homeAt = Date.now()
    await heartbeat
    await sleep(QUIET_AFTER_MS)
    await traffic.stop()
    await rotation.stop()
    return { ...result(), homeAt, ...(complaint === undefined ? {} : { complaint }) }
  } finally {
    clearInterval(showing)
  }
}
