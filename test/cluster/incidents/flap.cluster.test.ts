import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import type { EntryChange } from '../../../src/observer/told.ts'
import { askHaproxy } from '../haproxy-socket.ts'
import { waitFor } from '../kube-api.ts'
import { service, statefulSet } from '../manifests.ts'
import { describeOnCluster } from '../shared-cluster.ts'
import { startUpgradeBed, type UpgradeBed } from '../upgrade-bed.ts'
import { isReady } from '../workloads.ts'
import { type Access, doctor, doctorFindings, explain, type Observation, reasonCodes, startObserve } from './commands.ts'

/*
 * A script drains a pod, waits for 7 s, and changes its image. Every 2 s, a batch job puts in each pod that is Ready, and takes out each
 * pod that is not. So the drained pod is put back, restarts under traffic, is taken out, and is put back again.
 */

const NAME = 'incident-flap'
const FIXED_WAIT_MS = 7_000
const BATCH_MS = 2_000
/** The time for which the pod is not Ready after its restart, so that the test can look at it. */
const READY_AFTER_S = 12
const POD = 'web-0'

describeOnCluster('an upgrade by a fixed wait and condition Ready', (cluster) => {
  let bed: UpgradeBed | undefined
  afterEach(async () => {
    await bed?.stop()
    bed = undefined
  })

  it('flaps, and is found with what it does; the same upgrade by sluice is no finding', async () => {
    const objects = [
      statefulSet({ name: 'web', namespace: NAME, replicas: 1, readyAfter: READY_AFTER_S }),
      statefulSet({ name: 'peer', namespace: NAME, replicas: 1 }),
      service({ name: 'web', namespace: NAME }),
    ]
    const own = (bed = await startUpgradeBed(cluster(), {
      name: NAME,
      objects,
      app: 'web',
      count: 1,
      peers: { app: 'peer', count: 1 },
    }))
    const access: Access = { kubeconfig: cluster().kubeconfig.host, namespace: NAME, config: own.configFile }

    const bySluice = await startObserve(access, '--poll', '500ms')
    const traffic = await own.traffic()
    const { code } = await own.upgrade('sts/web', 'app=localhost/app:v2')
    expect(code).toBe(0)
    const { failed, byKind } = await traffic.stop()
    expect(failed, JSON.stringify(byKind)).toBe(0)
    expect(own.effects()).toEqual({ [POD]: ['drain', 'ready'] })
    await bySluice.sees(`${POD} drained`, ofEntry('draining'))
    await bySluice.sees(`${POD} back`, ofEntry('in'))
    expect([bySluice.codes(), await bySluice.alerts()]).toEqual([[], []])
    await bySluice.end()

    const observation = await startObserve(access, '--poll', '500ms')
    const batch = startBatch(own)
    const load = await own.traffic({ expectFailures: true })
    await batch.tick()
    await setState(own, 'drain')
    await sleep(FIXED_WAIT_MS)
    // The pod is still Ready, and the batch job reads nothing else.
    await seesEntry(observation, ['draining', 'in'])
    batch.hold()
    await patchImage('localhost/app:v3')
    await cluster().api.waitForObject('Pod', POD, NAME, (pod) => !isReady(pod))

    const [atRestart, ill] = await Promise.all([explain(access, `pod/${POD}`), doctor(access, 'statefulset/web')])
    expect([atRestart.exit, reasonCodes(atRestart)]).toEqual([1, ['containers-not-ready', 'entry-in-and-pod-not-ready']])
    // The doctor judges only pods that stay as they are.
    expect(doctorFindings(ill)).toEqual([])
    expect([observation.codes(), await observation.alerts()]).toEqual([[], []])

    batch.release()
    const flap = await observation.found('entry-flaps')
    expect(flap).toMatchObject({ loadBalancer: 'edge', namespace: NAME, pod: POD })
    expect(await observation.alerts()).toEqual(['SluiceEntryFlaps'])
    batch.hold()
    const taken = await explain(access, `pod/${POD}`)
    expect(reasonCodes(taken)).toContain('entry-out-by-others')
    expect(taken.pods).toMatchObject([{ rotation: 'out' }])
    batch.release()

    await seesEntry(observation, ['draining', 'in', 'draining', 'in'])
    await batch.stop()
    expect(own.effects()).toEqual({ [POD]: ['drain', 'ready', 'drain', 'ready', 'drain', 'ready'] })
    const lost = await load.stop()
    expect(lost.failed, JSON.stringify(lost.byKind)).toBeGreaterThan(0)
    const { findings } = await observation.end()
    expect(findings).toEqual([{ code: 'entry-flaps', times: 1 }])
    expect(reasonCodes(await explain(access, 'statefulset/web'))).toEqual([])
    console.log(
      `${lost.failed} of ${lost.requests} requests have failed: ${JSON.stringify(lost.byKind)}; back for ${flap.stayedMs} ms`,
    )
  })

  const ofEntry =
    (change: EntryChange['change']) =>
    (one: { type: string }): boolean =>
      one.type === 'entry' && (one as EntryChange).pod === POD && (one as EntryChange).change === change

  /** The changes of the entry of the pod are exactly these. */
  async function seesEntry(observation: Observation, changes: EntryChange['change'][]): Promise<void> {
    const own = (): EntryChange['change'][] =>
      observation.changes().flatMap((one) => (one.type === 'entry' && one.pod === POD ? [one.change] : []))
    await observation.sees(changes.join(), () => own().length >= changes.length)
    expect(own()).toEqual(changes)
  }

  function setState({ haproxy }: UpgradeBed, state: 'drain' | 'ready'): Promise<string> {
    return askHaproxy(haproxy.recorder.socket, `set server web/${POD} state ${state}`)
  }

  function patchImage(image: string): Promise<unknown> {
    const path = '/spec/containers/0/image'
    return cluster().api.patch('Pod', POD, NAME, [{ op: 'replace', path, value: image }])
  }

  /** The test can hold the job, as if it were busy. */
  function startBatch(own: UpgradeBed) {
    const stopping = new AbortController()
    onTestFinished(() => stopping.abort())
    let isHeld = false
    let ticks = 0
    async function aggregate(): Promise<void> {
      const [pod, states] = await Promise.all([cluster().api.get('Pod', POD, NAME), own.haproxy.states()])
      const isDrained = states.find(({ server }) => server === POD)!.adminState !== 0
      if (isReady(pod) === isDrained) await setState(own, isDrained ? 'ready' : 'drain')
    }
    async function run(): Promise<void> {
      while (!stopping.signal.aborted) {
        if (!isHeld) await aggregate()
        ticks += 1
        await sleep(BATCH_MS, undefined, { signal: stopping.signal }).catch(() => {})
      }
    }
    const running = run()
    return {
      /** Resolves right after a tick. */
      async tick(): Promise<void> {
        const before = ticks
        await waitFor(
          'the batch job',
          async () => ticks,
          (now) => now > before,
          { intervalMs: 10 },
        )
      },
      hold: () => void (isHeld = true),
      release: () => void (isHeld = false),
      async stop(): Promise<void> {
        stopping.abort()
        await running
      },
    }
  }
})
