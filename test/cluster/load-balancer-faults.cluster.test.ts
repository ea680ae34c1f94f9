import { afterAll, beforeAll, expect, it } from 'vitest'
import { haproxyReload } from './scenarios/haproxy-reload.ts'
import { judge } from './scenarios/judge.ts'
import { enters } from './scenarios/kill-sluice.ts'
import { seededRandom } from './scenarios/random.ts'
import { FAULTS, socketFaults } from './scenarios/socket-faults.ts'
import { openWebBed, watchWebUpgrade } from './scenarios/web-bed.ts'
import { describeOnCluster } from './shared-cluster.ts'
import type { UpgradeBed } from './upgrade-bed.ts'

describeOnCluster("HAProxy's admin socket misbehaves", (cluster) => {
  let bed: UpgradeBed
  beforeAll(async () => {
    bed = await openWebBed(cluster(), 'socket-faults', { config: { deadlines: { restore: '3s' } } })
  })
  afterAll(() => bed?.stop())

  // `npm run chaos` tests 'hangReply' and 'refuse': the one takes the life of a call, and the other resembles 'cut'.
  it.each(FAULTS.slice(0, 3).map((fault, index) => [fault, index] as const))(
    '%s: one effective drain and one restore a pod, no failed request',
    async (_, index) => {
      const { note, problems } = await socketFaults.run(bed, seededRandom(index), index)
      expect(problems, note).toEqual([])
    },
  )

  it('refuses to begin where it cannot be asked, and touches nothing', async () => {
    const { recorder } = bed.haproxy
    const said = recorder.commands().length
    const since = Date.now()
    await recorder.setFaults({ cut: true })
    const cut = await bed.upgrade('statefulset/web', 'app=localhost/app:v2-again')
    await recorder.setFaults({ refuse: true })
    const refused = await bed.upgrade('statefulset/web', 'app=localhost/app:v2-again')
    await recorder.setFaults({})
    for (const { code, stderr } of [cut, refused]) {
      expect(code, stderr).toBe(3)
      expect(stderr).toContain(recorder.socket)
      expect(stderr).toContain('edge')
    }
    expect(recorder.commands()).toHaveLength(said)
    expect(await bed.audit({ since, verb: ['patch', 'update', 'delete'] })).toEqual([])
  })

  it('does not come back before the restore deadline: exit 8 with what to do, and the same command brings the pod home', async () => {
    const { recorder } = bed.haproxy
    const upgrade = await watchWebUpgrade(bed)
    const first = bed.start(upgrade.command)
    await first.seen(enters('web-2', 'warming'))
    await recorder.setFaults({ refuse: true })
    const { code, result, stderr } = await first.exit
    expect(code, stderr).toBe(8)
    const pod = result?.pods.find((one) => one.pod === 'web-2')
    expect(pod).toMatchObject({ outcome: 'needsOperator', deadline: 'restore', traffic: 'out' })
    // The advice names the target with its state before, and a command.
    const advice = JSON.stringify(pod?.advice)
    expect(advice).toContain('"target":"web/web-2@')
    expect(advice).toMatch(/"shell":"kubectl --kubeconfig \S+ -n socket-faults describe pod web-2"/)
    expect(stderr).toContain('To go on from here:')
    expect(result?.pods.filter(({ outcome }) => outcome === 'unchanged').map((one) => one.pod)).toEqual(['web-1', 'web-0'])

    await recorder.setFaults({})
    const second = await bed.start(upgrade.command).exit
    expect(second.code, second.stderr).toBe(0)
    const { history } = await upgrade.end()
    expect(judge(history)).toEqual([])
  })
})

describeOnCluster('HAProxy forgets what was drained', (cluster) => {
  let bed: UpgradeBed
  beforeAll(async () => {
    bed = await haproxyReload.open(cluster(), 'haproxy-reload')
  })
  afterAll(() => bed?.stop())

  it.each([
    ['a reload while the pod restarts', 0],
    ['a restart while it warms up', 1],
    ['a reload while it empties', 2],
  ])('%s: it is drained again, and restored once', async (_, index) => {
    const { note, problems } = await haproxyReload.run(bed, seededRandom(index), index)
    console.log(note)
    expect(problems, note).toEqual([])
  })
})
