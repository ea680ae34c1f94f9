import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PodState, RunEvent } from '../../src/engine/events.ts'
import { holdBehindHaproxy, holdDirectly } from './held-request.ts'
import { journalStep } from './journal.ts'
import { appPort, service, statefulSet } from './manifests.ts'
import type { StatefulSetOptions } from './manifests.ts'
import { killed, outcomes, reached, standings, story } from './moments.ts'
import { describeOnCluster } from './shared-cluster.ts'
import type { Traffic } from './traffic.ts'
import type { SluiceProcess, UpgradeBed } from './upgrade-bed.ts'
import { startUpgradeBed } from './upgrade-bed.ts'

const PODS = ['web-2', 'web-1', 'web-0']

function openBed(
  cluster: Parameters<typeof startUpgradeBed>[0],
  name: string,
  pods: Partial<StatefulSetOptions> = {},
): Promise<UpgradeBed> {
  const web = statefulSet({ readyAfter: 1, ...pods, name: 'web', namespace: name })
  return startUpgradeBed(cluster, { name, objects: [web, service({ name: 'web', namespace: name })], app: 'web', count: 3 })
}

interface Seen {
  images: Record<string, string>
  template: string
  steps: Record<string, string | undefined>
}

async function look(bed: UpgradeBed): Promise<Seen> {
  const pods = await bed.pods()
  const { spec } = await bed.cluster.api.get('StatefulSet', 'web', bed.namespace)
  const each = <T>(of: (pod: (typeof pods)[number]) => T): Record<string, T> =>
    Object.fromEntries(pods.map((pod) => [pod.metadata.name, of(pod)]))
  return {
    images: each(({ status }) => status.containerStatuses[0].image.replace('localhost/app:', '')),
    template: spec.template.spec.containers[0].image.replace('localhost/app:', ''),
    steps: each(journalStep),
  }
}

interface Ended extends Seen {
  effects: Record<string, string[]>
  failed: string
  order: string | undefined
  open: string[]
}

/** Waits under traffic for a moment, and returns the final state. */
async function ending(bed: UpgradeBed, traffic: Traffic, mark: number): Promise<Ended> {
  await sleep(400)
  const { requests, failed, byKind } = await traffic.stop()
  expect(requests).toBeGreaterThan(100)
  const effects: Record<string, string[]> = {}
  for (const { server, kind, effective } of bed.haproxy.recorder.effects().slice(mark)) {
    if (effective) (effects[server] ??= []).push(kind)
  }
  const [lease] = await bed.cluster.api.list('Lease', bed.namespace)
  expect(lease.spec.holderIdentity ?? '').toBe('')
  const parts = await bed.cluster.api.list('ConfigMap', bed.namespace, 'sluice.dev/ledger')
  const headers = parts.flatMap(({ data }) => (data?.header ? [JSON.parse(data.header)] : []))
  return {
    ...(await look(bed)),
    effects,
    failed: failed === 0 ? '' : JSON.stringify(byKind),
    order: lease.metadata.annotations?.['sluice.dev/order'],
    open: headers.flatMap(({ run, finishedAt }) => (finishedAt === undefined ? [run] : [])),
  }
}

const stateWhen = (events: RunEvent[], pod: string, type: RunEvent['type']): PodState | undefined => {
  const before = events.slice(
    0,
    events.findIndex((event) => event.type === type),
  )
  const last = before.findLast((event) => event.type === 'podState' && event.pod === pod)
  return last?.type === 'podState' ? last.to : undefined
}

describeOnCluster('sluice abort', (cluster) => {
  /** The abort comes during the second of three pods: the first is done, and the last has not begun. */
  const CASES: {
    state: PodState
    pods?: Partial<StatefulSetOptions>
    home: 'unchanged' | 'upgraded'
    /** Keeps web-1 in this state until the returned function is called. */
    hold: (bed: UpgradeBed, run: SluiceProcess) => Promise<() => Promise<number>>
  }[] = [
    { state: 'emptying', home: 'unchanged', hold: async (bed) => (await holdBehindHaproxy(bed, 'web-1')).end },
    {
      state: 'restarting',
      pods: { graceful: true, terminationGracePeriodSeconds: 30 },
      home: 'upgraded',
      hold: async (bed) => (await holdDirectly(bed, 'web-1')).end,
    },
    {
      state: 'warming',
      // The delay lets the kubelet report the new container.
      pods: { readyAfter: 3 },
      home: 'upgraded',
      async hold(bed, run) {
        await reached(run, 'web-1', 'warming')
        await beUnready(bed, 'web-1', '60s')
        return () => beUnready(bed, 'web-1', '0s')
      },
    },
  ]

  async function beUnready(bed: UpgradeBed, pod: string, duration: string): Promise<number> {
    const { status } = await bed.cluster.api.get('Pod', pod, bed.namespace)
    const forward = await bed.cluster.forward(`${status.podIP}:${appPort}`)
    const answer = await fetch(`http://${forward.address}/unready?for=${duration}`, { method: 'POST' })
    await forward.close()
    return answer.status
  }

  describe.each(CASES)('of a live run, a pod $state', ({ state, pods, home, hold }) => {
    let bed: UpgradeBed
    beforeAll(async () => {
      bed = await openBed(cluster(), `abort-${state}`, pods)
    })
    afterAll(() => bed?.stop())

    it('nobody stays half done, the template is as before, and no request fails', async () => {
      const before = await standings(bed)
      const traffic = await bed.traffic()
      const run = bed.start(['upgrade', 'sts/web', 'app=localhost/app:v2'])
      const letGo = await hold(bed, run)
      await reached(run, 'web-1', state)
      const ordering = bed.start(['abort', 'sts/web', '-o', 'json'], { jsonl: false })
      await run.seen(({ type }) => type === 'ordered')
      expect(await letGo()).toBe(200)
      const abort = await ordering.exit
      const exit = await run.exit
      expect(exit.code, story(exit)).toBe(6)
      expect(abort.code, abort.stderr).toBe(0)
      expect(JSON.parse(abort.stdout)).toMatchObject({ kind: 'OrderReport', outcome: 'aborted', runs: [exit.result!.run] })
      // The tested state is the one in which the process received the order.
      expect(stateWhen(exit.events, 'web-1', 'ordered'), story(exit)).toBe(state)
      expect(outcomes(exit.result), story(exit)).toEqual({ 'web-2': ['upgraded'], 'web-1': [home], 'web-0': ['unchanged'] })
      expect(await ending(bed, traffic, 0)).toEqual({
        images: { 'web-2': 'v2', 'web-1': home === 'upgraded' ? 'v2' : 'v1', 'web-0': 'v1' },
        template: 'v1',
        steps: { 'web-2': 'closed', 'web-1': 'closed', 'web-0': undefined },
        effects: { 'web-2': ['drain', 'ready'], 'web-1': ['drain', 'ready'] },
        failed: '',
        order: undefined,
        open: [],
      })
      expect(await standings(bed)).toEqual(before)
      // The upgrade command begins a new run, and the old order does not apply to it.
      if (state !== 'emptying') return
      const again = await bed.upgrade('sts/web', 'app=localhost/app:v2')
      expect(again.code, story(again)).toBe(0)
      expect(new Set(Object.values((await look(bed)).images))).toEqual(new Set(['v2']))
    })
  })

  describe('of a run whose process was killed', () => {
    let bed: UpgradeBed
    beforeAll(async () => {
      bed = await openBed(cluster(), 'abort-killed')
    })
    afterAll(() => bed?.stop())

    async function killedIn(state: PodState): Promise<void> {
      const run = bed.start(['upgrade', 'sts/web', 'app=localhost/app:v2'])
      await reached(run, 'web-2', state)
      await killed(run, bed)
    }

    it('a drained pod goes back untouched; a second abort finds nothing to do', async () => {
      const before = await standings(bed)
      const traffic = await bed.traffic()
      const held = await holdBehindHaproxy(bed, 'web-2')
      await killedIn('emptying')
      expect(await held.end()).toBe(200)
      const exit = await bed.start(['abort', 'sts/web']).exit
      expect(exit.code, story(exit)).toBe(0)
      expect(exit.result?.outcome).toBe('aborted')
      expect(await ending(bed, traffic, 0)).toEqual({
        images: { 'web-2': 'v1', 'web-1': 'v1', 'web-0': 'v1' },
        template: 'v1',
        steps: { 'web-2': 'closed', 'web-1': undefined, 'web-0': undefined },
        effects: { 'web-2': ['drain', 'ready'] },
        failed: '',
        order: undefined,
        open: [],
      })
      expect(await standings(bed)).toEqual(before)
      const again = await bed.start(['abort', 'sts/web', '-o', 'json'], { jsonl: false }).exit
      expect([again.code, JSON.parse(again.stdout).outcome]).toEqual([0, 'none'])
    })

    it('a patched pod comes home on its new image; a template that somebody has edited is theirs', async () => {
      const traffic = await bed.traffic()
      const mark = bed.haproxy.recorder.effects().length
      await killedIn('restarting')
      const patch = [{ op: 'replace', path: '/spec/template/spec/containers/0/image', value: 'localhost/app:v3' }]
      await cluster().api.patch('StatefulSet', 'web', bed.namespace, patch)
      const exit = await bed.start(['abort', 'sts/web']).exit
      expect(exit.code, story(exit)).toBe(7)
      expect(exit.result?.reason).toMatchObject({
        message: expect.stringContaining('the template of statefulset/web was left as it is'),
      })
      expect(await ending(bed, traffic, mark)).toMatchObject({
        images: { 'web-2': 'v2', 'web-1': 'v1', 'web-0': 'v1' },
        template: 'v3',
        effects: { 'web-2': ['drain', 'ready'] },
        failed: '',
        order: undefined,
        open: [],
      })
    })
  })
})

describeOnCluster('sluice abort, of a run that has stopped', (cluster) => {
  let bed: UpgradeBed
  beforeAll(async () => {
    bed = await openBed(cluster(), 'abort-stopped')
  })
  afterAll(() => bed?.stop())

  it('by Ctrl-C: the template is put back, at once', async () => {
    const traffic = await bed.traffic()
    const held = await holdBehindHaproxy(bed, 'web-1')
    const run = bed.start(['upgrade', 'sts/web', 'app=localhost/app:v2'])
    await reached(run, 'web-1', 'emptying')
    run.child.kill('SIGINT')
    expect((await run.exit).code).toBe(130)
    expect(await held.end()).toBe(200)
    expect((await look(bed)).template).toBe('v2')
    const exit = await bed.start(['abort', '-l', 'app=web']).exit
    expect(exit.code, story(exit)).toBe(0)
    expect(exit.events.filter(({ type }) => type === 'leaseWaiting')).toEqual([])
    expect(await ending(bed, traffic, 0)).toMatchObject({
      images: { 'web-2': 'v2', 'web-1': 'v1', 'web-0': 'v1' },
      template: 'v1',
      effects: { 'web-2': ['drain', 'ready'], 'web-1': ['drain', 'ready'] },
      failed: '',
      open: [],
    })
    // The template has the old image, so the pod that came home on the new image goes back.
    const back = await bed.upgrade('sts/web')
    expect(back.code, story(back)).toBe(0)
    expect(outcomes(back.result)).toMatchObject({ 'web-2': ['upgraded'] })
    expect((await look(bed)).images).toEqual({ 'web-2': 'v1', 'web-1': 'v1', 'web-0': 'v1' })
  })

  it('with a pod that does not come up: it is tried again, stays out, and is said; the template is put back all the same', async () => {
    const mark = bed.haproxy.recorder.effects().length
    const traffic = await bed.traffic()
    const deadline = ['--restart-deadline', '4s']
    const run = await bed.upgrade('sts/web', 'app=localhost/app:bad', ...deadline)
    expect(run.code, story(run)).toBe(1)
    const abort = await bed.start(['abort', 'sts/web', ...deadline]).exit
    expect(abort.code, story(abort)).toBe(1)
    expect(abort.result?.pods).toMatchObject([{ pod: 'web-2', outcome: 'failed', traffic: 'out' }])
    const { spec } = await cluster().api.get('StatefulSet', 'web', bed.namespace)
    expect(spec.template.spec.containers[0].image).toBe('localhost/app:v1')
    expect((await bed.start(['status', 'sts/web'], { jsonl: false }).exit).stdout).toContain('aborting')
    // A new request adopts the pod, and the old order does not apply to it.
    const rescue = await bed.upgrade('sts/web', 'app=localhost/app:v1')
    expect(rescue.code, story(rescue)).toBe(0)
    expect(rescue.events.filter(({ type }) => type === 'ordered')).toEqual([])
    expect(await ending(bed, traffic, mark)).toMatchObject({
      images: { 'web-2': 'v1', 'web-1': 'v1', 'web-0': 'v1' },
      template: 'v1',
      effects: { 'web-2': ['drain', 'ready'] },
      failed: '',
      order: undefined,
      open: [],
    })
  })

  it('an order for another run is not obeyed, and does not stay', async () => {
    const order = JSON.stringify({ v: 1, order: 'abort', runs: ['another'], by: 'nobody' })
    const patch = { metadata: { annotations: { 'sluice.dev/order': order, team: 'web' } } }
    await cluster().api.patch('Lease', 'sluice-statefulset-web', bed.namespace, patch)
    const traffic = await bed.traffic()
    const exit = await bed.upgrade('sts/web', 'app=localhost/app:v3')
    expect(exit.code, story(exit)).toBe(0)
    expect(await ending(bed, traffic, 0)).toMatchObject({ template: 'v3', failed: '', order: undefined, open: [] })
    const [lease] = await cluster().api.list('Lease', bed.namespace)
    expect(lease.metadata.annotations).toMatchObject({ team: 'web' })
  })
})

describeOnCluster('sluice pause and resume', (cluster) => {
  let bed: UpgradeBed
  beforeAll(async () => {
    bed = await openBed(cluster(), 'pause')
  })
  afterAll(() => bed?.stop())

  const say = async (verb: string): Promise<{ code: number | null; text: string }> => {
    const { code, stdout, stderr } = await bed.start([verb, 'sts/web'], { jsonl: false }).exit
    return { code, text: stdout + stderr }
  }

  it('what is under way comes home, then it holds, also over a kill, until it is resumed', async () => {
    expect(await say('pause')).toEqual({ code: 3, text: 'error: no run of statefulset/web is open: nothing to pause\n' })
    const traffic = await bed.traffic()
    const held = await holdBehindHaproxy(bed, 'web-2')
    const command = ['upgrade', 'sts/web', 'app=localhost/app:v2']
    const first = bed.start(command)
    await reached(first, 'web-2', 'emptying')
    expect(await say('resume')).toMatchObject({ code: 3, text: expect.stringContaining('is paused: nothing to resume') })
    expect((await say('pause')).code).toBe(0)
    await first.seen(({ type }) => type === 'ordered')
    expect(await held.end()).toBe(200)
    await first.seen(({ type }) => type === 'paused')
    expect((await look(bed)).images).toEqual({ 'web-2': 'v2', 'web-1': 'v1', 'web-0': 'v1' })
    const status = await say('status')
    expect(status.code).toBe(4)
    expect(status.text).toMatch(/held by .*; paused by /)

    await killed(first, bed)
    const second = bed.start(command)
    await second.seen(({ type }) => type === 'paused')
    await sleep(2_000)
    expect((await look(bed)).images).toEqual({ 'web-2': 'v2', 'web-1': 'v1', 'web-0': 'v1' })
    expect((await say('resume')).code).toBe(0)
    const exit = await second.exit
    expect(exit.code, story(exit)).toBe(0)
    expect(await ending(bed, traffic, 0)).toMatchObject({
      images: { 'web-2': 'v2', 'web-1': 'v2', 'web-0': 'v2' },
      effects: Object.fromEntries(PODS.map((pod) => [pod, ['drain', 'ready']])),
      failed: '',
      order: undefined,
      open: [],
    })
  })

  it('a pipeline need not wait for its end: exit code 5, and the same command goes on paused', async () => {
    const command = ['upgrade', 'sts/web', 'app=localhost/app:v3', '--exit-when-paused']
    const traffic = await bed.traffic()
    const mark = bed.haproxy.recorder.effects().length
    const held = await holdBehindHaproxy(bed, 'web-2')
    const first = bed.start(command)
    await reached(first, 'web-2', 'emptying')
    expect((await say('pause')).code).toBe(0)
    await first.seen(({ type }) => type === 'ordered')
    expect(await held.end()).toBe(200)
    expect((await first.exit).code).toBe(5)
    expect((await bed.start(command).exit).code).toBe(5)
    expect((await say('resume')).code).toBe(0)
    expect((await bed.start(command).exit).code).toBe(0)
    expect(await ending(bed, traffic, mark)).toMatchObject({
      images: { 'web-2': 'v3', 'web-1': 'v3', 'web-0': 'v3' },
      effects: Object.fromEntries(PODS.map((pod) => [pod, ['drain', 'ready']])),
      failed: '',
      order: undefined,
      open: [],
    })
  })

  it('an abort ends a run that is paused', async () => {
    const traffic = await bed.traffic()
    const mark = bed.haproxy.recorder.effects().length
    const held = await holdBehindHaproxy(bed, 'web-2')
    const run = bed.start(['upgrade', 'sts/web', 'app=localhost/app:v1'])
    await reached(run, 'web-2', 'emptying')
    expect((await say('pause')).code).toBe(0)
    await run.seen(({ type }) => type === 'ordered')
    expect(await held.end()).toBe(200)
    await run.seen(({ type }) => type === 'paused')
    expect((await say('abort')).code).toBe(0)
    const exit = await run.exit
    expect(exit.code, story(exit)).toBe(6)
    expect((await say('resume')).code).toBe(3)
    expect(await ending(bed, traffic, mark)).toMatchObject({
      images: { 'web-2': 'v1', 'web-1': 'v3', 'web-0': 'v3' },
      template: 'v3',
      effects: { 'web-2': ['drain', 'ready'] },
      failed: '',
      order: undefined,
      open: [],
    })
  })
})
