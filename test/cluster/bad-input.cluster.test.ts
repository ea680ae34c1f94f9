import { writeFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { configure, traceOf } from './judge.ts'
import type { Trace } from './judge.ts'
import { appPort, pod, statefulSet } from './manifests.ts'
import { describeOnCluster } from './shared-cluster.ts'
import type { SluiceExit, UpgradeBed } from './upgrade-bed.ts'
import { RUNNER, startUpgradeBed } from './upgrade-bed.ts'

const NAME = 'bad-input'
const TO_V2 = ['statefulset/web', 'app=localhost/app:v2']

/** Every mistake is reported with a way to correct it, and nothing is touched. */
describeOnCluster('bad input', (cluster) => {
  let bed: UpgradeBed
  let before: Trace

  beforeAll(async () => {
    const objects = [
      statefulSet({ name: 'web', namespace: NAME, replicas: 2 }),
      // This pod is not in the load balancer.
      pod({ name: 'lonely', namespace: NAME }),
    ]
    bed = await startUpgradeBed(cluster(), { name: NAME, objects, app: 'web', count: 2 })
    await cluster().api.waitForObject('Pod', 'lonely', NAME, ({ status }) => status.phase === 'Running')
    before = await traceOf(bed)
  })

  // Undoes changes to the config of the bed, and finds traces in the cluster.
  afterEach(async () => {
    await configure(bed, {})
    expect(await traceOf(bed)).toEqual(before)
  })

  afterAll(() => bed.stop())

  interface Said extends SluiceExit {
    all: string
  }

  async function upgrade(...args: string[]): Promise<Said> {
    const exit = await bed.start(['upgrade', ...args], { jsonl: false }).exit
    return { ...exit, all: exit.stdout + exit.stderr }
  }

  it('names the containers that there are, for one that there is not', async () => {
    const { code, all } = await upgrade('statefulset/web', 'ap=localhost/app:v2')
    expect(all).toContain('there is no container ap; the containers are: app')
    expect(code).toBe(3)
  })

  it('names a workload that does not exist, and its namespace', async () => {
    const { code, all } = await upgrade('statefulset/wep', 'app=localhost/app:v2')
    expect(all).toContain('there is no statefulset/wep in namespace bad-input')
    expect(code).toBe(3)
  })

  it('says which rights are missing in a namespace that is not ours, or does not exist', async () => {
    const { code, all } = await upgrade(...TO_V2, '-n', 'nowhere')
    expect(all).toMatch(/not allowed in namespace nowhere: .*patch pods/)
    expect(code).toBe(3)
  })

  it.each(['app=not a valid ref!!', 'app=localhost/App:v2', 'app=', 'app=localhost/app:'])(
    'refuses the image of %j',
    async (image) => {
      const { code, all } = await upgrade('statefulset/web', image)
      expect(all).toContain(`${JSON.stringify(image.slice(4))} is no image`)
      expect(code).toBe(2)
    },
  )

  it('says that no pod matches', async () => {
    const { code, all } = await upgrade('-l', 'app=nobody', 'app=localhost/app:v2')
    expect(all).toContain('no pods match')
    expect(code).toBe(3)
  })

  it('refuses a pod that is in no load balancer, before anything is touched', async () => {
    const { code, all } = await upgrade('pod/lonely', 'app=localhost/app:v2')
    expect(all).toMatch(/pod\/lonely: it cannot be drained: .*no server of backend web has the address \S+:8080/)
    expect(all).toContain('--allow-unbalanced')
    expect(code).toBe(3)
  })

  it('names a socket that is not there', async () => {
    await configure(bed, { socket: `${bed.haproxy.dir}/nothing.sock` })
    const { code, all } = await upgrade(...TO_V2)
    expect(all).toContain(`there is no socket ${bed.haproxy.dir}/nothing.sock: is HAProxy running?`)
    expect(code).toBe(3)
  })

  it('says that the socket lacks the level admin', async () => {
    await configure(bed, { socket: bed.haproxy.operatorSocket })
    const { code, all } = await upgrade(...TO_V2)
    expect(all).toContain(`stats socket ${bed.haproxy.operatorSocket} level admin`)
    expect(code).toBe(3)
  })

  it('names the backends that there are, for one that there is not', async () => {
    await configure(bed, { backend: 'wep' })
    const { code, all } = await upgrade(...TO_V2)
    expect(all).toMatch(/has no backend wep; it has .*web/)
    expect(code).toBe(3)
  })

  it('names a config key that is not known, and the nearest one', async () => {
    const edge = { name: 'edge', adapter: 'haproxy', port: appPort, options: { sockt: '/x', backend: 'web' } }
    await writeFile(bed.configFile, stringify({ apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers: [edge] }))
    const { code, all } = await upgrade(...TO_V2)
    expect(all).toMatch(/sluice\.yaml:\d+:\d+: loadBalancers\[0\]\.options\.sockt: unknown key\n +did you mean "socket"\?/)
    expect(code).toBe(2)
  })

  it('names the verb and the resource of a right that is missing', async () => {
    const { api } = cluster()
    const role = await api.get('Role', 'sluice', NAME)
    const rules = structuredClone(role.rules) as { resources: string[]; verbs: string[] }[]
    const pods = rules.find(({ resources }) => resources.includes('pods'))!
    pods.verbs = pods.verbs.filter((verb) => verb !== 'patch')
    const rest = rules.filter(({ resources }) => !resources.includes('pods/status'))
    await api.patch('Role', 'sluice', NAME, { rules: rest })
    await untilAllowed(false)
    try {
      const { code, all } = await upgrade(...TO_V2)
      expect(all).toContain('not allowed in namespace bad-input: patch pods, patch pods/status; `sluice rbac`')
      expect(code).toBe(3)
    } finally {
      await api.patch('Role', 'sluice', NAME, { rules: role.rules })
      await untilAllowed(true)
    }
  })

  /** Waits for the authorizer, which learns of a Role by a watch. */
  async function untilAllowed(allowed: boolean): Promise<void> {
    const review = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user: RUNNER, resourceAttributes: { namespace: NAME, verb: 'patch', resource: 'pods' } },
    }
    await cluster().api.waitFor(
      `patch pods to be ${allowed ? 'allowed' : 'denied'}`,
      () => cluster().api.request('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', review),
      ({ status }) => status.allowed === allowed,
    )
  }
})

describeOnCluster('bad input that a flag lets through', (cluster) => {
  let bed: UpgradeBed | undefined

  afterEach(async () => {
    await bed?.stop()
    bed = undefined
  })

  it('upgrades a pod without a drain with --allow-unbalanced', async () => {
    const name = 'unbalanced'
    const objects = [pod({ name: 'web-a', namespace: name, labels: { app: 'web' } })]
    bed = await startUpgradeBed(cluster(), { name, objects, app: 'web', count: 1 })
    bed.haproxy.setServers([])
    await bed.haproxy.reload()
    const refused = await bed.upgrade('pod/web-a', 'app=localhost/app:v2')
    expect(refused.code).toBe(3)
    const { code, stderr } = await bed.upgrade('pod/web-a', 'app=localhost/app:v2', '--allow-unbalanced')
    expect(code, stderr).toBe(0)
    const [upgraded] = await bed.pods()
    expect(upgraded.spec.containers[0].image).toBe('localhost/app:v2')
    expect(bed.effects()).toEqual({})
  })
})
