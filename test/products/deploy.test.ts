import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { type KubernetesProcess, startKubernetes } from '../../adapters/conformance/beds/kubernetes-process.ts'
import { chosenVersion } from '../cluster/kubernetes-versions.ts'
import { runCommand } from '../cluster/run-command.ts'
import { findKubectl } from './find-kubectl.ts'
import { findKubernetes } from './kubernetes.ts'
import { describeOn } from './program.ts'

/* The kustomizations of deploy/, applied to a real API server with `kubectl apply -k`. No controller and no pod runs there. */

const DEPLOY = join(import.meta.dirname, '../../deploy')
const SHOP = 'shop'

// oxlint-disable-next-line no-explicit-any
type Json = any

describeOn(await findKubernetes(chosenVersion()), (programs) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-deploy-'))
  const kubeconfig = join(folder, 'kubeconfig')
  let server: KubernetesProcess
  let kubectl: string

  beforeAll(async () => {
    kubectl = await findKubectl()
    server = await startKubernetes({ programs, rules: [], flags: { 'disable-admission-plugins': 'ServiceAccount' } })
    writeFileSync(kubeconfig, server.kubeconfig('admin'))
    for (const name of [SHOP, 'other', 'kube-public'])
      await server.ask('POST', '/api/v1/namespaces', { metadata: { name } }).catch(() => {})
    for (const kind of ['Issuer', 'Certificate']) await server.ask('POST', DEFINITIONS, definition(kind))
  }, 120_000)
  afterAll(async () => {
    await server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Returns the line of kubectl about each object. */
  async function apply(path: string): Promise<string[]> {
    const { stdout } = await runCommand(kubectl, ['--kubeconfig', kubeconfig, 'apply', '-k', join(DEPLOY, path)])
    return stdout.trim().split('\n')
  }
  async function rendered(path: string): Promise<Json[]> {
    const { stdout } = await runCommand(kubectl, ['kustomize', path])
    return parseAllDocuments(stdout).map((one) => one.toJS())
  }
  const list = async (path: string): Promise<string[]> =>
    ((await server.ask('GET', path)) as Json).items.map(({ metadata }: Json) => `${metadata.namespace ?? ''}/${metadata.name}`)

  test.each(['webhook/own-certificate', 'webhook/cert-manager', 'webhook/example', 'sync/source', 'sync/base', 'sync/example'])(
    '%s is taken whole, with no field that the API server does not know',
    async (path) => {
      expect((await apply(path)).length).toBeGreaterThan(4)
      // A second apply changes nothing: the objects are as the API server keeps them. kubectl replaces each selector of a disruption budget.
      const changed = (await apply(path)).filter(
        (line) => !line.endsWith(' unchanged') && !line.startsWith('poddisruptionbudget'),
      )
      expect(changed).toEqual([])
    },
    120_000,
  )

  test('the example is for one namespace, and fails open', async () => {
    await apply('webhook/example')
    expect(await list(`/apis/rbac.authorization.k8s.io/v1/namespaces/${SHOP}/roles`)).toContain(`${SHOP}/sluice-webhook`)
    const deployment = (await server.ask('GET', '/apis/apps/v1/namespaces/sluice-webhook/deployments/sluice-webhook')) as Json
    const [container] = deployment.spec.template.spec.containers
    expect(container).toMatchObject({
      image: 'registry.example/sluice:0.1.0',
      args: expect.arrayContaining(['--namespace=shop']),
    })
    const configuration = (await server.ask('GET', `${WEBHOOKS}/sluice-webhook`)) as Json
    expect(configuration.webhooks).toMatchObject([
      { failurePolicy: 'Ignore', timeoutSeconds: 2, sideEffects: 'None', reinvocationPolicy: 'Never', matchPolicy: 'Equivalent' },
    ])
  }, 60_000)

  test('an entry of the example, uncommented, lets the webhook reach an API server on another port', async () => {
    const copy = join(folder, 'webhook')
    cpSync(join(DEPLOY, 'webhook'), copy, { recursive: true })
    const file = join(copy, 'example', 'kustomization.yaml')
    const portsOf = async (path: string): Promise<number[]> => {
      const policy = (await rendered(path)).find(({ kind }) => kind === 'NetworkPolicy')
      return policy.spec.egress[0].ports.map(({ port }: Json) => port)
    }
    expect(await portsOf(join(copy, 'example'))).toEqual([443, 6443])
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.replace(/^ {2}# (- target: \{ kind: NetworkPolicy|  .*)/gm, '  $1'))
    expect(await portsOf(join(copy, 'example'))).toEqual([443, 6443, 8443])
  }, 60_000)

  test('with cert-manager, the webhook has no right to write configurations of webhooks or Secrets', async () => {
    const written = async (path: string): Promise<Set<string>> => {
      const rules = (await rendered(join(DEPLOY, path))).flatMap((one) => one.rules?.filter(({ verbs }: Json) => verbs) ?? [])
      const writes = rules.filter(({ verbs }) => verbs.some((verb: string) => !/^(get|list|watch)$/.test(verb)))
      return new Set(writes.flatMap(({ resources }) => resources))
    }
    expect(await written('webhook/cert-manager')).toEqual(new Set(['leases']))
    expect(await written('webhook/own-certificate')).toEqual(new Set(['leases', 'secrets', 'mutatingwebhookconfigurations']))
  }, 60_000)

  test('with cert-manager, the container has its certificate and its cache', async () => {
    const objects = await rendered(join(DEPLOY, 'webhook/cert-manager'))
    const { containers, volumes } = objects.find(({ kind }) => kind === 'Deployment').spec.template.spec
    const [{ args, volumeMounts }] = containers
    const files = args.filter((one: string) => one.startsWith('--tls-') || one.startsWith('--rules-cache')).toSorted()
    expect(files.map((one: string) => dirname(one.split('=')[1]!))).toEqual([
      '/var/cache/sluice',
      '/etc/sluice/certificate',
      '/etc/sluice/certificate',
    ])
    expect(volumeMounts.map(({ name, mountPath }: Json) => [name, mountPath])).toEqual([
      ['cache', '/var/cache/sluice'],
      ['certificate', '/etc/sluice/certificate'],
    ])
    expect(volumes).toMatchObject([
      { name: 'cache', emptyDir: {} },
      { name: 'certificate', secret: {} },
    ])
  }, 60_000)

  /*
   * No webhook runs here. So with failurePolicy Fail, the API server refuses exactly the writes that it would ask the webhook about.
   */
  test('the API server asks about endpoints in namespaces with the label alone, and never about its own', async () => {
    await apply('webhook/example')
    const configuration = (await server.ask('GET', `${WEBHOOKS}/sluice-webhook`)) as Json
    configuration.webhooks[0].failurePolicy = 'Fail'
    await server.ask('PUT', `${WEBHOOKS}/sluice-webhook`, configuration)
    for (const name of [SHOP, 'default', 'kube-system', 'kube-public', 'sluice-webhook']) {
      const namespace = (await server.ask('GET', `/api/v1/namespaces/${name}`)) as Json
      namespace.metadata.labels['sluice.dev/webhook'] = 'enabled'
      await server.ask('PUT', `/api/v1/namespaces/${name}`, namespace)
    }
    async function isAsked(kind: 'endpoints' | 'endpointslices', namespace: string, object: Json): Promise<boolean> {
      try {
        await server.ask('POST', `${PATHS[kind]}/namespaces/${namespace}/${kind}?dryRun=All`, object)
        return false
      } catch (error) {
        if (!(error as Error).message.includes('failed calling webhook')) throw error
        return true
      }
    }
    // The informers of the API server learn of the configuration and of the labels a moment later.
    await expect.poll(() => isAsked('endpoints', SHOP, endpoints('web')), { timeout: 15_000 }).toBe(true)
    expect({
      slice: await isAsked('endpointslices', SHOP, slice('web-1', 'web')),
      'slice without endpoints': await isAsked('endpointslices', SHOP, { ...slice('web-1', 'web'), endpoints: [] }),
      'endpoints without addresses': await isAsked('endpoints', SHOP, { metadata: { name: 'web' } }),
      'a namespace without the label': await isAsked('endpoints', 'other', endpoints('web')),
      'a Service of default': await isAsked('endpointslices', 'default', slice('web-1', 'web')),
      'a new slice of default': await isAsked('endpointslices', 'default', unnamed(slice('web-1', 'web'))),
      'a new slice of default/kubernetes': await isAsked(
        'endpointslices',
        'default',
        unnamed(slice('kubernetes-2', 'kubernetes')),
      ),
      'default/kubernetes': await isAsked('endpoints', 'default', endpoints('kubernetes')),
      'a slice of default/kubernetes': await isAsked('endpointslices', 'default', slice('kubernetes-2', 'kubernetes')),
      'kube-system': await isAsked('endpoints', 'kube-system', endpoints('dns')),
      'kube-public': await isAsked('endpoints', 'kube-public', endpoints('web')),
      'its own namespace': await isAsked('endpointslices', 'sluice-webhook', slice('sluice-webhook-1', 'sluice-webhook')),
    }).toEqual({
      slice: true,
      'slice without endpoints': false,
      'endpoints without addresses': false,
      'a namespace without the label': false,
      'a Service of default': true,
      'a new slice of default': true,
      'a new slice of default/kubernetes': false,
      'default/kubernetes': false,
      'a slice of default/kubernetes': false,
      'kube-system': false,
      'kube-public': false,
      'its own namespace': false,
    })
  }, 60_000)
})

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const WEBHOOKS = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations'
const PATHS = { endpoints: '/api/v1', endpointslices: '/apis/discovery.k8s.io/v1' }

const endpoints = (name: string): Json => ({
  metadata: { name },
  subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 80 }] }],
})

const slice = (name: string, service: string): Json => ({
  metadata: { name, labels: { 'kubernetes.io/service-name': service } },
  addressType: 'IPv4',
  endpoints: [{ addresses: ['10.0.0.1'] }],
  ports: [{ port: 80 }],
})

/** As the controller makes a slice: the API server completes the name after admission. */
function unnamed({ metadata: { name, ...metadata }, ...rest }: Json): Json {
  return { metadata: { generateName: `${name}-`, ...metadata }, ...rest }
}

/** A kind of cert-manager, with any content: cert-manager itself checks it. */
function definition(kind: string): Json {
  const plural = `${kind.toLowerCase()}s`
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  return {
    metadata: { name: `${plural}.cert-manager.io` },
    spec: {
      group: 'cert-manager.io',
      scope: 'Namespaced',
      names: { kind, plural },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  }
}
