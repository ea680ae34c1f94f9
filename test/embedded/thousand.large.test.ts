import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fileURLToPath } from 'node:url'
import { whyNoHaproxy } from '../../adapters/conformance/beds/haproxy-process.ts'
import { isReady } from '../../sim/kubelet/pod.ts'
import { mostDrained } from './effect-log.ts'
import { type ScaleBed, startScaleBed } from './scale-bed.ts'

/* sluice as a process of its own, over HTTP, against 1,000 pods behind one HAProxy. */

const PODS = 1_000
const WINDOW = 100
const SLUICE = fileURLToPath(new URL('../../src/cli/sluice.ts', import.meta.url))
/** The delays are short, so that most of the time is sluice's. */
const DELAYS = { relistPeriod: [200, 220], sandbox: [5, 10], start: [10, 20], stop: [5, 10] } as const

describe.skipIf(whyNoHaproxy() !== undefined)('1,000 pods', () => {
  let bed: ScaleBed

  beforeAll(async () => {
    bed = await startScaleBed({ pods: PODS, readyAfterMs: 0, delays: DELAYS })
  })
  afterAll(() => bed?.stop())

  test('an upgrade with a window of 100 completes: one drain, one restore and four PATCHes a pod', async () => {
    const { code, stderr, result, effects, patches } = await bed.upgrade(SLUICE, { image: 'app:v2', maxUnavailable: WINDOW })
    expect({ code, outcome: result.outcome, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, outcome: 'done', stderr: '' })
    expect(new Set(result.pods.map(({ outcome }) => outcome))).toEqual(new Set(['upgraded']))
    expect(result.pods).toHaveLength(PODS)

    const byServer = Map.groupBy(effects, ({ server }) => server)
    const sequences = new Set(Array.from(byServer.values(), (own) => own.map(({ to }) => to).join(' ')))
    expect([byServer.size, sequences]).toEqual([PODS, new Set(['drain ready'])])
    expect(mostDrained(effects)).toBeLessThanOrEqual(WINDOW)
    expect(mostDrained(effects)).toBeGreaterThan(WINDOW / 2)
    // The stored patches are the intent, the image, the restore intent and the end. The image is also a dry run.
    expect(patches).toEqual({ stored: 4 * PODS, dryRun: PODS })

    expect(bed.pods().every(isReady)).toBe(true)
    expect(new Set(bed.pods().map(({ status }) => status!.containerStatuses![0]!.imageID))).toEqual(new Set(['sha256:v2']))
  })

  test('the same command again finds nothing to do', async () => {
    const { code, effects, patches } = await bed.upgrade(SLUICE, { image: 'app:v2', maxUnavailable: WINDOW })
    expect({ code, effects, patches }).toEqual({ code: 0, effects: [], patches: { stored: 0, dryRun: 0 } })
  })
})
