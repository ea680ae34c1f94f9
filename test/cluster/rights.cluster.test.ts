import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import type { Purpose } from '../../src/cli/arguments/purposes.ts'
import { rbacManifest } from '../../src/cli/output/rbac-manifest.ts'
import type { DoctorReport } from '../../src/doctor/report.ts'
import type { Explanation } from '../../src/explain/explanation.ts'
import type { KubeObject } from './kube-api.ts'
import { service, statefulSet } from './manifests.ts'
import { describeOnCluster } from './shared-cluster.ts'
import { startUpgradeBed, type UpgradeBed } from './upgrade-bed.ts'

const NAME = 'looks'
const VIEWER = 'sluice-viewer'
const UNREAD = /"code":"objects-unread"[^}]*"what":"(\w+)"/g

/* The commands that only look, as a user with the rights that `sluice rbac --for …` prints and no other right. */
describeOnCluster('the rights of those who look', (cluster) => {
  let bed: UpgradeBed
  let kubeconfig: string

  beforeAll(async () => {
    const objects = [statefulSet({ name: 'web', namespace: NAME, replicas: 2 }), service({ name: 'web', namespace: NAME })]
    bed = await startUpgradeBed(cluster(), { name: NAME, objects, app: 'web', count: 2 })
    kubeconfig = await cluster().kubeconfigFor({ user: VIEWER })
  })
  afterAll(() => bed.stop())

  function printed(purpose: Purpose): KubeObject[] {
    const subject = { kind: 'User', name: VIEWER } as const
    const given = { workloads: [], namespace: NAME, subject, purposes: [purpose], orders: false, loadBalancers: [], locks: [] }
    return parseAllDocuments(rbacManifest(given)).map((document) => document.toJS() as KubeObject)
  }

  /** Runs work with these rights, and removes the rights afterwards. */
  async function allowed<Value>(rights: readonly KubeObject[], work: () => Promise<Value>): Promise<Value> {
    const { api } = cluster()
    await api.apply(...rights)
    try {
      return await work()
    } finally {
      for (const { kind, metadata } of rights) await api.delete(kind, metadata.name, metadata.namespace)
    }
  }

  async function run(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
    return bed.start([...args, '--kubeconfig', kubeconfig], { jsonl: false }).exit
  }

  async function explained(): Promise<Explanation> {
    return JSON.parse((await run('explain', 'statefulset/web', '-o', 'json')).stdout) as Explanation
  }

  it('nothing is granted before', async () => {
    expect((await run('explain', 'statefulset/web')).code).toBe(3)
  })

  it('explain reads all that it looks at', async () => {
    const { verdict, unread, pods, nodes } = await allowed(printed('explain'), explained)
    expect({ verdict, unread, pods: pods.length }).toEqual({ verdict: 'right', unread: [], pods: 2 })
    expect(nodes).toMatchObject([{ name: cluster().info.nodeName, heartbeat: { renewedAt: expect.any(String) as string } }])
  })

  it.each([
    ['ClusterRoleBinding', undefined, ['nodes']],
    ['RoleBinding', 'kube-node-lease', ['leases']],
  ])('explain without the %s of %s says what it could not read', async (kind, namespace, parts) => {
    const rest = printed('explain').filter((one) => one.kind !== kind || one.metadata.namespace !== namespace)
    const { verdict, unread } = await allowed(rest, explained)
    expect({ verdict, unread: unread.map(({ what }) => what) }).toEqual({ verdict: 'right', unread: parts })
  })

  it('observe watches all, nodes too', async () => {
    const observe = async (rights: readonly KubeObject[]) => {
      const { code, stdout, stderr } = await allowed(rights, () => run('observe', '--for', '2s', '--strict', '-o', 'json'))
      const hasNodes = !stderr.includes('the nodes of the cluster')
      return { code, hasNodes, unread: [...new Set(Array.from(stdout.matchAll(UNREAD), ([, what]) => what))].sort() }
    }
    expect(await observe(printed('observe'))).toEqual({ code: 0, hasNodes: true, unread: [] })
    expect(await observe([])).toEqual({ code: 1, hasNodes: false, unread: ['endpoints', 'endpointslices', 'pods', 'services'] })
  })

  it('the doctor skips nothing for want of a right, and makes its probe; it lacks the rights of a run', async () => {
    const rights = printed('doctor')
    const ask = async (...args: string[]) => {
      const { code, stdout } = await run('doctor', '--probe', '-o', 'json', ...args)
      const { checks } = JSON.parse(stdout) as DoctorReport
      return {
        code,
        findings: checks.flatMap(({ findings }) => findings.map((one) => one.code)),
        lacks: checks.flatMap(({ skipped }) => skipped.filter((one) => one.code === 'no-right')),
      }
    }
    const [all, without] = await allowed(rights, async () => [await ask(), await ask('--ignore', 'rights-missing')] as const)
    expect(all).toEqual({ code: 3, findings: ['rights-missing'], lacks: [] })
    expect(without).toEqual({ code: 0, findings: [], lacks: [] })
  })
})
