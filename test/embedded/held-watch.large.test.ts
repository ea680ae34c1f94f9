import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fileURLToPath } from 'node:url'
import { whyNoHaproxy } from '../../adapters/conformance/beds/haproxy-process.ts'
import { writeKubeconfig } from '../../sim/http/kubeconfig.ts'
import { startChild } from '../../src/cli/testing/child.ts'
import { type BufferingProxy, type Holds, startBufferingProxy } from './buffering-proxy.ts'
import type { LoggedEffect } from './effect-log.ts'
import { type ScaleBed, startScaleBed } from './scale-bed.ts'

/* sluice as a process of its own, behind a proxy that holds back the data of watches. */

const SLUICE = fileURLToPath(new URL('../../src/cli/sluice.ts', import.meta.url))
const WITHOUT_LOOKS = new URL('./without-looks.ts', import.meta.url).href
/** With fewer pods, an upgrade may be over before a watch is known to be held. */
const PODS = 5
const WARNING = 'the watch brings nothing of what lists show'
/** The longest time that a pod is out, as a multiple of the longest time without a proxy. */
const SLOWER_BY = 6

describe.skipIf(whyNoHaproxy() !== undefined)('a proxy that holds the body of a watch', () => {
  let bed: ScaleBed
  let proxy: BufferingProxy
  let direct: { outMs: number[]; wallMs: number; warnings: number }

  beforeAll(async () => {
    bed = await startScaleBed({ pods: PODS, readyAfterMs: 500 })
    bed.cluster.apply({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web' },
      spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] },
    })
    proxy = await startBufferingProxy(bed.cluster.url)
    await writeKubeconfig(bed.kubeconfig, proxy.url)
    direct = await upgrade('nothing', 'app:v2')
  })
  afterAll(async () => {
    await proxy?.close()
    await bed?.stop()
  })

  async function upgrade(holds: Holds, image: string) {
    proxy.hold(holds)
    const { code, stderr, result, effects, wallMs } = await bed.upgrade(SLUICE, { image, maxUnavailable: 1 })
    expect({ code, outcomes: result.pods.map(({ outcome }) => outcome), stderr: code === 0 ? '' : stderr }).toEqual({
      code: 0,
      outcomes: Array.from({ length: PODS }, () => 'upgraded'),
      stderr: '',
    })
    expect(effects.map(({ to }) => to)).toEqual(Array.from({ length: PODS }, () => ['drain', 'ready']).flat())
    return { outMs: outMs(effects), wallMs, warnings: stderr.split(WARNING).length - 1 }
  }

  test('control: where nothing is held nothing is said', () => {
    expect(direct.warnings).toBe(0)
  })

  test.each<[Holds, string]>([
    ['events', 'app:v3'],
    ['answers', 'app:v4'],
    ['blocks', 'app:v1'],
  ])('%s: lists stand in for it, each pod is out hardly longer, and that is said once', async (holds, image) => {
    const held = await upgrade(holds, image)
    expect(held.outMs[0]! / direct.outMs[0]!).toBeLessThan(SLOWER_BY)
    expect(held.warnings).toBe(1)
  })

  test('control: without a look beside the watch the same upgrade does not come to its end in that time', async () => {
    proxy.hold('events')
    const args = ['upgrade', 'statefulset/web', 'app=app:v2', '--config', bed.configFile, '--kubeconfig', bed.kubeconfig]
    const child = startChild(['--import', WITHOUT_LOOKS, SLUICE, ...args])
    await child.sees('observes generation')
    await new Promise((resolve) => setTimeout(resolve, 2 * direct.wallMs))
    const isOver = child.isOver()
    child.process.kill('SIGKILL')
    await child.end()
    expect({ isOver, stdout: child.stdout() }).toMatchObject({ isOver: false })
  })
})

/** Returns for each pod the time from its drain to its restore, with the longest first. */
function outMs(effects: readonly LoggedEffect[]): number[] {
  const drains = effects.filter(({ to }) => to === 'drain')
  const restores = effects.filter(({ to }) => to === 'ready')
  return drains.map(({ server, atMs }) => restores.find((one) => one.server === server)!.atMs - atMs).sort((a, b) => b - a)
}
