import { afterAll, beforeAll, expect, it } from 'vitest'
import { holdBehindHaproxy } from './held-request.ts'
import type { KubeObject } from './kube-api.ts'
import { enters } from './scenarios/kill-sluice.ts'
import { interruptions, runInterruption } from './scenarios/interrupt.ts'
import { judge } from './scenarios/judge.ts'
import { seededRandom } from './scenarios/random.ts'
import { openWebBed, watchWebUpgrade } from './scenarios/web-bed.ts'
import { describeOnCluster } from './shared-cluster.ts'
import type { UpgradeBed } from './upgrade-bed.ts'

describeOnCluster('an upgrade that is interrupted, and the command that it prints', (cluster) => {
  let bed: UpgradeBed
  beforeAll(async () => {
    bed = await openWebBed(cluster(), 'interrupt', { readyAfter: 1 })
  })
  afterAll(() => bed?.stop())

  const named = interruptions.map((one) => [`${one.signal}${one.twice ? ' twice' : ''} in ${one.state}`, one] as const)
  it.each(named)('%s: no failed request, and the printed command completes it', async (_, interruption) => {
    const { note, problems } = await runInterruption(bed, interruption, seededRandom(1))
    expect(problems, note).toEqual([])
  })
})

describeOnCluster('a second run on the same workload', (cluster) => {
  const SECOND = 'tester'
  let bed: UpgradeBed
  beforeAll(async () => {
    bed = await openWebBed(cluster(), 'second-run')
    await cluster().api.apply(rightsFor(SECOND, bed.namespace))
  })
  afterAll(() => bed?.stop())

  it.each([
    ['of the same image', undefined],
    ['of another image', 'localhost/app:v3'],
  ])('%s ends with 7, names the holder and touches nothing; later it need not wait', async (_, otherImage) => {
    const upgrade = await watchWebUpgrade(bed)
    // The first process must still be busy when the second has seen its Lease renewed.
    const held = await holdBehindHaproxy(bed, 'web-2')
    const [verb, workload, wanted] = upgrade.command
    const asked = [verb!, workload!, otherImage === undefined ? wanted! : `app=${otherImage}`]
    const since = Date.now()
    const first = bed.start(upgrade.command)
    await first.seen(enters('web-2', 'emptying'))
    const kubeconfig = await cluster().kubeconfigFor({ user: SECOND })
    const second = await bed.start([...asked, '--kubeconfig', kubeconfig]).exit
    const [lease] = await cluster().api.list('Lease', bed.namespace)
    expect(first.child.exitCode, 'the first must still run').toBeNull()
    expect(second.code, second.stderr).toBe(7)
    expect(second.result?.reason).toMatchObject({ code: 'lease-held', holder: lease.spec.holderIdentity })
    expect(second.result?.pods).toEqual([])
    const writes = (await cluster().audit({ user: SECOND, namespace: bed.namespace, since })).filter(isWrite)
    expect(writes.map(({ verb: does, requestURI }) => `${does} ${requestURI}`)).toEqual([])

    expect(await held.end()).toBe(200)
    expect((await first.exit).code).toBe(0)
    const { history } = await upgrade.end()
    expect(judge(history)).toEqual([])

    const third = await bed.start([verb!, workload!, wanted!, '--kubeconfig', kubeconfig]).exit
    expect(third.code, third.stderr).toBe(0)
    expect(third.events.filter(({ type }) => type === 'leaseWaiting')).toEqual([])
  })
})

/** Reports whether a request is a write. A review of rights is a `create`, and changes nothing. */
function isWrite({ verb, objectRef }: { verb: string; objectRef?: { resource?: string } }): boolean {
  return ['create', 'update', 'patch', 'delete'].includes(verb) && !objectRef?.resource?.startsWith('selfsubject')
}

function rightsFor(user: string, namespace: string): KubeObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: `sluice-${user}`, namespace },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'sluice' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  }
}
