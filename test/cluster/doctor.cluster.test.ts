import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { DoctorReport } from '../../src/doctor/report.ts'
import { faultsIn } from './doctor-faults.ts'
import { appPort, service, statefulSet } from './manifests.ts'
import { killed, reached } from './moments.ts'
import { describeOnCluster } from './shared-cluster.ts'
import { startUpgradeBed, type UpgradeBed } from './upgrade-bed.ts'

const NAME = 'doctor'
const V2 = 'app=localhost/app:v2'
/** Includes faults that become findings only after a minute. */
const IS_SLOW = process.env['SLUICE_SLOW'] !== undefined
const SLUICE = fileURLToPath(new URL('../../src/cli/sluice.ts', import.meta.url))
const labels = { team: 'shop' }

/** The doctor is silent where all is well. It finds each planted fault by its code, and nothing else. */
describeOnCluster('doctor', (cluster) => {
  let bed: UpgradeBed

  beforeAll(async () => {
    const web = service({ name: 'web', namespace: NAME })
    const objects = [
      statefulSet({ name: 'web', namespace: NAME, replicas: 2 }),
      { ...web, metadata: { ...web.metadata, labels } },
      {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'web', namespace: NAME },
        spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
      },
    ]
    bed = await startUpgradeBed(cluster(), { name: NAME, objects, app: 'web', count: 2 })
    await untilBudgetAllows(1)
  })
  afterAll(() => bed.stop())

  async function untilBudgetAllows(pods: number): Promise<void> {
    await cluster().api.waitForObject('PodDisruptionBudget', 'web', NAME, ({ status }) => status?.disruptionsAllowed === pods)
  }

  interface Looked {
    code: number | null
    report: DoctorReport
  }

  async function doctor(...args: string[]): Promise<Looked> {
    return looked(['--kubeconfig', cluster().kubeconfig.host, ...args])
  }

  /** Runs the doctor, by default as the runner of the bed. */
  async function looked(args: string[]): Promise<Looked> {
    const given = ['doctor', 'statefulset/web', '--config', bed.configFile, '-o', 'json', ...args]
    const { code, stdout, stderr } = await bed.start(given, { jsonl: false }).exit
    expect(stderr).toBe('')
    return { code, report: JSON.parse(stdout) as DoctorReport }
  }

  const codes = ({ report: { checks } }: Looked): string[] => checks.flatMap(({ findings }) => findings.map(({ code }) => code))

  it('is silent on a healthy cluster, with a probe, as its administrator', async () => {
    const { code, report } = await doctor('--probe', '--strict')
    expect(report.checks.flatMap(({ findings }) => findings)).toEqual([])
    expect(code).toBe(0)
    // Controllers without leader election have no Leases.
    expect(report.checks.filter(({ outcome }) => outcome === 'skipped').map(({ check }) => check)).toEqual([
      'scheduler',
      'controller-manager',
    ])
    expect((await cluster().api.list('Service', NAME)).map(({ metadata }) => metadata.name)).toEqual(['web'])
    expect(bed.effects()).toEqual({})
  })

  const faults = faultsIn(NAME).filter(({ takesAMinute = false }) => IS_SLOW || !takesAMinute)

  it.each(faults.map((fault) => ({ ...fault, title: fault.codes.join(', ') })))(
    'finds $title',
    async ({ codes: expected, plant, heal }) => {
      await plant(bed)
      try {
        expect(codes(await doctor())).toEqual(expected)
      } finally {
        await heal(bed)
      }
    },
  )

  it('is silent again once all of them are healed', async () => {
    expect(codes(await doctor())).toEqual([])
  })

  /** Writes a config with this load balancer alone. */
  async function configOf(name: string, loadBalancer: object): Promise<string> {
    const file = join(cluster().info.dir, `doctor-${name}.yaml`)
    const loadBalancers = [{ name, port: appPort, ...loadBalancer }]
    await writeFile(file, JSON.stringify({ apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers }))
    return file
  }

  const haproxy = (options: object) => ({ adapter: 'haproxy', options: { backend: 'web', ...options } })
  const none = `cat >/dev/null; echo '{"v": 1, "entries": []}'`
  const locked = (lock: object) => ({
    adapter: 'exec',
    lock: { namespace: 'kube-public', key: 'edge', ...lock },
    options: { command: ['/bin/sh', '-c', none], capabilities: { settle: '0s', wholeDocument: true } },
  })

  it.each([
    ['load-balancer-unreachable', () => haproxy({ socket: join(bed.haproxy.dir, 'no-such.sock') })],
    ['load-balancer-refuses', () => haproxy({ socket: bed.haproxy.adminSocket, backend: 'no-such' })],
    ['lock-unreachable', () => locked({ kubeconfig: join(cluster().info.dir, 'doctor-nobody.kubeconfig') })],
  ])('finds %s, and fails', async (expected, loadBalancer) => {
    await nobodysKubeconfig()
    const file = await configOf(expected, loadBalancer())
    const found = await doctor('--config', file)
    expect({ code: found.code, codes: codes(found) }).toEqual({ code: 3, codes: [expected] })
  })

  it('finds lock-rights-missing, of a lock in a namespace that the Role of a run is not for', async () => {
    const file = await configOf('lock-rights-missing', locked({}))
    expect(codes(await looked(['--config', file]))).toEqual(['lock-rights-missing'])
    expect(codes(await doctor('--config', file))).toEqual([])
  })

  /** Writes the kubeconfig of the administrator, with a port that no server listens on. */
  async function nobodysKubeconfig(): Promise<string> {
    const file = join(cluster().info.dir, 'doctor-nobody.kubeconfig')
    const text = await readFile(cluster().kubeconfig.host, 'utf8')
    await writeFile(file, text.replace(`127.0.0.1:${cluster().info.apiPort}`, '127.0.0.1:1'))
    return file
  }

  it('finds api-unreachable', async () => {
    const found = await looked(['--kubeconfig', await nobodysKubeconfig()])
    expect({ code: found.code, codes: codes(found) }).toEqual({ code: 3, codes: ['api-unreachable'] })
  })

  it('finds rights-missing, of a user without any', async () => {
    const found = await looked(['--kubeconfig', await cluster().kubeconfigFor({ user: 'tester' })])
    expect({ code: found.code, codes: codes(found) }).toEqual({ code: 3, codes: ['rights-missing'] })
  })

  it('finds clock-differs, of a process whose clock is 90 s behind; --strict and --ignore decide on the exit code', async () => {
    const behind = 'data:text/javascript,const now = Date.now.bind(Date); Date.now = () => now() - 90_000'
    const args = ['doctor', '-n', NAME, '--kubeconfig', cluster().kubeconfig.host, '-o', 'json']
    const ask = async (...more: string[]): Promise<Looked> => {
      const child = spawn(process.execPath, ['--import', encodeURI(behind), SLUICE, ...args, ...more], {
        cwd: cluster().info.dir,
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let stdout = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
      const [code] = (await once(child, 'close')) as [number | null]
      return { code, report: JSON.parse(stdout) as DoctorReport }
    }
    const [found, strict, ignoring] = [await ask(), await ask('--strict'), await ask('--strict', '--ignore', 'clock-differs')]
    expect(codes(found)).toEqual(['clock-differs'])
    expect([found.code, strict.code, ignoring.code]).toEqual([0, 1, 0])
  })

  const probes = async (): Promise<string[]> =>
    (await cluster().api.list('Service', NAME, 'sluice.dev/doctor-probe')).map(({ metadata }) => metadata.name)

  it('finds probe-refused and probe-left, of a caller that may not make the probe, or not remove it', async () => {
    const { api } = cluster()
    expect(codes(await looked(['--probe']))).toEqual(['probe-refused'])
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name: 'makes-probes', namespace: NAME } }
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'makes-probes' }
    const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'sluice-runner' }]
    await api.apply(
      { ...role, kind: 'Role', rules: [{ apiGroups: [''], resources: ['services'], verbs: ['create'] }] },
      { ...role, kind: 'RoleBinding', roleRef, subjects },
    )
    expect(codes(await looked(['--probe']))).toEqual(['probe-left'])
    const left = await probes()
    expect(left).toHaveLength(1)
    await api.delete('RoleBinding', 'makes-probes', NAME)
    await api.delete('Role', 'makes-probes', NAME)
    await api.delete('Service', left[0]!, NAME)
  })

  it('says what the Role of a run does not allow to look at, and finds the rest', async () => {
    const { code, report } = await looked([])
    expect([code, report.outcome]).toEqual([0, 'passed'])
    const skipped = report.checks.flatMap((check) => check.skipped.map((one) => one.code))
    expect(new Set(skipped)).toEqual(new Set(['no-right', 'probe-not-asked-for']))
    expect(report.checks.find(({ check }) => check === 'rights')!.outcome).toBe('passed')
  })

  it('finds run-open, journal-open, and nothing once the run is finished', async () => {
    const { api } = cluster()
    const first = bed.start(['upgrade', 'statefulset/web', V2])
    await reached(first, 'web-1', 'restarting')
    await killed(first, bed)
    await bed.pods()
    await untilBudgetAllows(1)
    await lastRenewedAMinuteAgo()
    expect(codes(await doctor())).toEqual(['journal-open'])

    // The process ends with web-1, and begins no other pod.
    const second = bed.start(['upgrade', 'statefulset/web', V2, '--ready-for', '10s', '--exit-when-paused'])
    await second.seen(({ type }) => type === 'podState')
    await bed.start(['pause', 'statefulset/web'], { jsonl: false }).exit
    expect((await second.exit).code).toBe(5)
    await bed.pods()
    await untilBudgetAllows(1)
    await lastRenewedAMinuteAgo()
    expect(codes(await doctor())).toEqual(['run-open'])

    expect((await bed.start(['resume', 'statefulset/web'], { jsonl: false }).exit).code).toBe(0)
    expect((await bed.upgrade('statefulset/web', V2)).code).toBe(0)
    await untilBudgetAllows(1)
    expect(codes(await doctor())).toEqual([])

    /** Makes the Lease old, because a run counts as live for two durations of its Lease. */
    async function lastRenewedAMinuteAgo(): Promise<void> {
      const renewTime = new Date(Date.now() - 60_000).toISOString().replace('Z', '000Z')
      for (const { metadata } of await api.list('Lease', NAME))
        await api.patch('Lease', metadata.name, NAME, { spec: { renewTime } }, 'merge')
    }
  })
})
