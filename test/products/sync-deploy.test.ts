import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import type { Right } from '../../src/engine/rights.ts'
import { rightsOfSync, rightsOfSyncSource } from '../../src/sync/rights.ts'
import { chosenVersion } from '../cluster/kubernetes-versions.ts'
import { runCommand } from '../cluster/run-command.ts'
import { type ControlPlane, type Json, startControlPlane } from './endpoints/control-plane.ts'
import { findKubectl } from './find-kubectl.ts'
import { findKubernetes } from './kubernetes.ts'
import { describeOn } from './program.ts'
import { closeJournal, openJournal } from './sync/journal.ts'
import { type SyncProcess, startSyncProcess } from './sync/sync-process.ts'
import { createWorkload, type Workload } from './sync/workload.ts'

/*
 * deploy/sync on real control planes, by the commands of docs/sync.md: an access cluster and a source. Sync runs as a process with the
 * arguments of the Deployment, and with the tokens of both service accounts. The tests follow each other.
 */

const ROOT = join(import.meta.dirname, '../..')
const SLUICE = join(ROOT, 'src/cli/sluice.ts')
const ACCOUNT = 'system:serviceaccount:sluice-sync:sluice-sync'
const SLICES = '/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices'
const SERVICES = '/api/v1/namespaces/shop/services'
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const ROLE = { access: `${RBAC}/namespaces/shop/roles/sluice-sync`, source: `${RBAC}/namespaces/shop/roles/sluice-sync-source` }
const OWN = `${RBAC}/namespaces/sluice-sync/roles/sluice-sync-own`
const WITHIN = { timeout: 20_000 }
/** A slice is read by its name after a write that was refused over its version, or whose answer was lost. Neither happens here. */
const SELDOM = 'endpointslices get'

describeOn(await findKubernetes(chosenVersion()), (programs) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-sync-deploy-'))
  const config = join(folder, 'sync.yaml')
  let access: ControlPlane
  let east: ControlPlane
  let workload: Workload
  let sync: SyncProcess

  beforeAll(async () => {
    ;[access, east] = await Promise.all([
      startControlPlane(programs),
      startControlPlane(programs, { controllers: 'endpointslice-controller,serviceaccount-token-controller' }),
    ])
    await access.ask('POST', '/api/v1/namespaces', { metadata: { name: 'shop' } })
    workload = createWorkload(east, 100)
    await workload.makeServices(['web'])
    await workload.makePods('web', 2)
    await prepareShell()
  }, 120_000)
  afterAll(async () => {
    await sync?.kill()
    await Promise.all([access?.stop(), east?.stop()])
    rmSync(folder, { recursive: true, force: true })
  })

  /** A folder with deploy/ and the programs of the commands, and one kubeconfig with the contexts of both clusters. */
  async function prepareShell(): Promise<void> {
    cpSync(join(ROOT, 'deploy'), join(folder, 'deploy'), { recursive: true })
    mkdirSync(join(folder, 'bin'))
    symlinkSync(await findKubectl(), join(folder, 'bin/kubectl'))
    const sluice = join(folder, 'bin/sluice')
    writeFileSync(sluice, `#!/bin/sh\nexec '${process.execPath}' '${SLUICE}' "$@"\n`)
    chmodSync(sluice, 0o755)
    const documents = Object.entries({ access, east }).map(([name, plane]) => {
      const document = JSON.parse(readFileSync(plane.kubeconfig, 'utf8')) as Json
      const { cluster } = document.clusters[0]
      const { user } = document.users[0]
      return { clusters: { name, cluster }, users: { name, user }, contexts: { name, context: { cluster: name, user: name } } }
    })
    const all = (of: 'clusters' | 'users' | 'contexts'): object[] => documents.map((document) => document[of])
    const merged = { apiVersion: 'v1', kind: 'Config', clusters: all('clusters'), users: all('users'), contexts: all('contexts') }
    writeFileSync(join(folder, 'kubeconfig'), JSON.stringify(merged))
  }

  async function shell(script: string): Promise<string> {
    const path = [join(folder, 'bin'), process.env['PATH']].join(delimiter)
    const env = { ...process.env, PATH: path, KUBECONFIG: join(folder, 'kubeconfig') }
    const child = spawn('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (said += text))
    const [code] = (await once(child, 'close')) as [number]
    if (code !== 0) throw new Error(`${script}: ${code}: ${said}`)
    return said
  }

  /** Starts what the Deployment starts, with these files in place of those of the pod. */
  async function start(): Promise<SyncProcess> {
    const deployment = await access.ask('GET', '/apis/apps/v1/namespaces/sluice-sync/deployments/sluice-sync')
    const [{ args }] = deployment.spec.template.spec.containers as [{ args: string[] }]
    const here = args.map((one) =>
      one.startsWith('--config=')
        ? `--config=${config}`
        : one.startsWith('--metrics-listen=')
          ? '--metrics-listen=127.0.0.1:0'
          : one,
    )
    expect(here).not.toEqual(args)
    return startSyncProcess([SLUICE, ...here])
  }

  const status = async (): Promise<Json> => {
    const args = [SLUICE, 'sync', 'status', '--config', config, '-o', 'json', '--within', '3s']
    const { stdout } = await runCommand(process.execPath, args, { allowFailure: true })
    return JSON.parse(stdout)
  }
  const addresses = async (): Promise<string[]> =>
    (await access.ask('GET', SLICES)).items
      .flatMap(({ endpoints }: Json) => endpoints ?? [])
      .filter(({ conditions }: Json) => conditions.ready)
      .map((one: Json) => one.addresses[0])
      .sort()
  const ready = (): string[] => [...workload.pods('web').values()].filter((one) => one.isReady).map((one) => one.address)
  async function isCopied(): Promise<void> {
    await expect.poll(addresses, WITHIN).toEqual(ready().sort())
  }

  /** Takes verbs from a Role while `body` runs. */
  async function without(plane: ControlPlane, path: string, resource: string, verbs: string[], body: () => Promise<void>) {
    const whole = await plane.ask('GET', path)
    const rules = whole.rules
      .map((rule: Json) =>
        rule.resources.includes(resource) ? { ...rule, verbs: rule.verbs.filter((verb: string) => !verbs.includes(verb)) } : rule,
      )
      .filter((rule: Json) => rule.verbs.length > 0)
    expect(rules).not.toEqual(whole.rules)
    await plane.ask('PATCH', path, { rules })
    try {
      await body()
    } finally {
      await plane.ask('PATCH', path, { rules: whole.rules })
    }
  }

  test('the commands of the page connect both clusters, without the rights of an administrator', async () => {
    for (const block of commandsOf('docs/sync.md'))
      await shell(block.replace('east west', 'east').replace('--from-file=west=west.kubeconfig', ''))
    const secret = await access.ask('GET', '/api/v1/namespaces/sluice-sync/secrets/sluice-sync-sources')
    const source = parse(Buffer.from(secret.data.east, 'base64').toString()) as Json
    expect(source.users).toHaveLength(1)
    writeFileSync(join(folder, 'east'), stringify(source))
    // The token that a pod of the Deployment has.
    const path = '/api/v1/namespaces/sluice-sync/serviceaccounts/sluice-sync/token'
    const { status: made } = await access.ask('POST', path, { spec: { expirationSeconds: 3_600 } })
    const document = JSON.parse(readFileSync(access.kubeconfig, 'utf8')) as Json
    document.users[0].user = { token: made.token }
    writeFileSync(join(folder, 'access'), JSON.stringify(document))
    const shipped = parse(readFileSync(join(folder, 'deploy/sync/mine/sync.yaml'), 'utf8')) as Json
    const sources = shipped.sources
      .filter(({ name }: Json) => name === 'east')
      .map((one: Json) => ({ ...one, kubeconfig: 'east' }))
    writeFileSync(config, stringify({ ...shipped, access: { kubeconfig: 'access' }, sources }))
  }, 60_000)

  test('without the right to its Lease, sync says so, and writes nothing', async () => {
    await without(access, OWN, 'leases', ['get', 'update'], async () => {
      const refused = await start()
      await refused.until(/"type":"lease-failed".*forbidden/)
      expect(await refused.stop()).toBe(0)
    })
    expect((await access.ask('GET', SLICES)).items).toEqual([])
  }, 30_000)

  test('it copies, changes and removes, and uses each right that it has', async () => {
    const since = Date.now()
    // As a replica leaves it that has ended in order. Otherwise the Lease is waited for.
    const given = { holderIdentity: '', leaseDurationSeconds: 1 }
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: LEASE, spec: given }
    writeFileSync(join(folder, 'lease.json'), JSON.stringify(lease))
    await shell('kubectl --kubeconfig access create -f lease.json')
    sync = await start()
    await sync.until(/this process leads, and writes/)
    await isCopied()
    const [name, { address }] = [...workload.pods('web')][0]!
    await openJournal(east, name)
    await expect.poll(addresses, WITHIN).not.toContain(address)
    await closeJournal(east, name)
    await isCopied()
    for (const pod of workload.pods('web').keys()) await workload.deletePod(pod)
    await expect.poll(async () => (await access.ask('GET', SLICES)).items, WITHIN).toEqual([])
    await workload.makePods('web', 2)
    await isCopied()
    const { inNamespace, inOwn, ofCluster } = rightsOfSync()
    const ofSource = rightsOfSyncSource()
    const listedIn = {
      access: listed([...inNamespace, ...inOwn, ...ofCluster]),
      source: listed([...ofSource.inNamespace, ...ofSource.ofCluster]),
    }
    const usedIn = { access: [...(await used(access, since)), SELDOM].sort(), source: await used(east, since) }
    expect(usedIn).toEqual(listedIn)
  }, 60_000)

  test('a write that it may not make is named, and is made once it may', async () => {
    await without(access, ROLE.access, 'endpointslices', ['create', 'update', 'delete'], async () => {
      await workload.setReady([...workload.pods('web').keys()][0]!, false)
      await sync.until(/"type":"write-failed","effect":"update".*forbidden/)
    })
    await isCopied()
    await without(access, ROLE.access, 'services', ['create'], async () => {
      await access.ask('DELETE', `${SERVICES}/web`)
      await sync.until(/"code":"write-failed".*cannot create resource \\"services\\"/)
    })
    await expect.poll(async () => (await access.ask('GET', SERVICES)).items, WITHIN).toHaveLength(1)
  }, 60_000)

  const REFUSED = { is: 'away', because: { is: 'refused' } }
  test.each([
    ['pods', ROLE.source, { sources: [{ is: 'current', problems: [{ code: 'pods-unread' }] }] }],
    [
      'namespaces',
      `${RBAC}/clusterroles/sluice-sync-source`,
      { sources: [{ is: 'current', problems: [{ code: 'identity-unread' }] }] },
    ],
    ['endpointslices', ROLE.source, { sources: [REFUSED], services: [{ problems: [{ code: 'source-away' }] }] }],
    ['services', ROLE.source, { sources: [REFUSED], services: [{ problems: [{ code: 'source-away' }] }] }],
  ])(
    'status names a source that refuses %s',
    async (resource, path, expected) => {
      await without(east, path, resource, ['get', 'list', 'watch'], async () => {
        await expect.poll(status, WITHIN).toMatchObject({ isInOrder: false, access: { is: 'current' }, ...expected })
      })
    },
    30_000,
  )

  test('status names an access cluster that refuses, and is in order with all rights', async () => {
    await without(access, ROLE.access, 'endpointslices', ['list', 'watch'], async () => {
      await expect.poll(status, WITHIN).toMatchObject({ isInOrder: false, access: { is: 'away' } })
    })
    await expect.poll(status, WITHIN).toMatchObject({ isInOrder: true })
  }, 30_000)

  test('it is taken away, and its copies stay until they are deleted', async () => {
    expect(await sync.stop()).toBe(0)
    // No controller of namespaces runs here, for which the command waits.
    await shell('kubectl --context access delete -k deploy/sync/mine --wait=false')
    await isCopied()
    const page = readFileSync(join(ROOT, 'docs/sync.md'), 'utf8')
    const [command] = /kubectl --context access delete endpointslices [^`]*/.exec(page)!
    await shell(command)
    expect([await addresses(), (await access.ask('GET', SERVICES)).items.length]).toEqual([[], 1])
  }, 30_000)

  /** The rights that the service account has used since then. No request was refused. */
  async function used(plane: ControlPlane, since: number): Promise<string[]> {
    const asked = await plane.audit({ user: ACCOUNT, since })
    expect(asked.filter(({ responseStatus }) => responseStatus?.code === 403)).toEqual([])
    return [
      ...new Set(asked.flatMap(({ objectRef, verb }) => (objectRef === undefined ? [] : [`${objectRef.resource} ${verb}`]))),
    ].sort()
  }
})

const LEASE = { name: 'sluice-sync', namespace: 'sluice-sync' }

const listed = (rights: readonly Right[]): string[] =>
  [...new Set(rights.flatMap(({ resource, verbs }) => verbs.map((verb) => `${resource} ${verb}`)))].sort()

/** The blocks of a page that are to be run. */
function commandsOf(page: string): string[] {
  const blocks = [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block]) => block!)
  expect(blocks.length).toBeGreaterThan(2)
  return blocks
}
