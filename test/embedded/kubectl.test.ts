import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { everybody } from '../../sim/api-server/rights.ts'
import { type EmbeddedCluster, startEmbeddedCluster } from '../../sim/http/embedded-cluster.ts'
import { writeKubeconfig } from '../../sim/http/kubeconfig.ts'
import { type Kubectl, kubectlFor, kubectlIsHere } from './kubectl.ts'
import { appContainer, statefulSet } from './stateful-set.ts'

/* A real kubectl against the embedded API server. */

const IMAGES = { 'app:v1': { digest: 'sha256:1' }, 'app:v2': { digest: 'sha256:2' } }
const CONTAINER = appContainer(80)
const SIDECAR = { name: 'proxy', image: 'app:v1' }

describe.skipIf(!kubectlIsHere)('kubectl against the embedded API server', () => {
  let cluster: EmbeddedCluster
  let kubectl: Kubectl
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-kubectl-'))
    cluster = await startEmbeddedCluster({ nodes: 2, images: IMAGES })
    const kubeconfig = join(folder, 'kubeconfig')
    await writeKubeconfig(kubeconfig, cluster.url)
    kubectl = await kubectlFor(kubeconfig, folder)
    cluster.apply(statefulSet('web', 3, [CONTAINER, SIDECAR]))
    await ready('statefulset/web', 3)
  }, 900_000)

  afterAll(async () => {
    await cluster?.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** Runs kubectl, expects success, and returns its output. */
  async function prints(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await kubectl(...args)
    expect({ args, code, stderr }).toMatchObject({ code: 0 })
    return stdout
  }

  async function refuses(...args: string[]): Promise<string> {
    const { code, stderr } = await kubectl(...args)
    expect({ args, code }).toEqual({ args, code: 1 })
    return stderr
  }

  async function ready(workload: string, replicas: number): Promise<void> {
    await prints('wait', workload, `--for=jsonpath={.status.readyReplicas}=${replicas}`, '--timeout=25s')
  }

  const field = (object: string, path: string) => prints('get', object, '-o', `jsonpath=${path}`)
  const lines = (text: string): string[] => text.trimEnd().split('\n')
  /** Returns the words of each line without the age, which changes. */
  const table = (text: string): string[][] =>
    lines(text).map((line) => line.split(/ {2,}/).filter((cell) => !/^\d+s$/.test(cell)))

  describe('get', () => {
    test('pods, with the columns of a real one', async () => {
      expect(table(await prints('get', 'pods', '-l', 'app=web'))).toEqual([
        ['NAME', 'READY', 'STATUS', 'RESTARTS', 'AGE'],
        ['web-0', '2/2', 'Running', '0'],
        ['web-1', '2/2', 'Running', '0'],
        ['web-2', '2/2', 'Running', '0'],
      ])
      const [head = [], first = []] = table(await prints('get', 'pods', '-l', 'app=web', '-o', 'wide'))
      expect(head.slice(4)).toEqual(['AGE', 'IP', 'NODE'])
      expect(first.slice(4)).toEqual([await field('pod/web-0', '{.status.podIP}'), await field('pod/web-0', '{.spec.nodeName}')])
    })

    test('workloads, nodes and namespaces, by their short names', async () => {
      expect(table(await prints('get', 'sts', 'web'))).toEqual([
        ['NAME', 'READY', 'AGE'],
        ['web', '3/3'],
      ])
      expect(table(await prints('get', 'no'))).toEqual([
        ['NAME', 'STATUS', 'ROLES', 'AGE', 'VERSION'],
        ['node-0', 'Ready', '<none>', 'v1.35.4'],
        ['node-1', 'Ready', '<none>', 'v1.35.4'],
      ])
      expect(table(await prints('get', 'ns'))).toEqual([
        ['NAME', 'STATUS', 'AGE'],
        ['default', 'Active'],
      ])
      const all = await prints('get', 'all', '-l', 'app=web')
      expect(all).toContain('pod/web-2')
      expect(all).not.toContain('node/')
    })

    test('one object as JSON, YAML, names and fields', async () => {
      expect(JSON.parse(await prints('get', 'pod', 'web-0', '-o', 'json'))).toMatchObject({
        kind: 'Pod',
        status: { phase: 'Running' },
      })
      expect(await prints('get', 'pod', 'web-0', '-o', 'yaml')).toContain('\nkind: Pod\n')
      expect(lines(await prints('get', 'pods', '-l', 'app=web', '-o', 'name'))).toEqual(['pod/web-0', 'pod/web-1', 'pod/web-2'])
    })

    test('by labels and by fields', async () => {
      const names = async (...args: string[]) => lines(await prints('get', 'pods', '-o', 'name', ...args))
      expect(await names('-l', 'app in (web),statefulset.kubernetes.io/pod-name!=web-1')).toEqual(['pod/web-0', 'pod/web-2'])
      expect(await names('--field-selector', 'metadata.name=web-1,status.phase=Running')).toEqual(['pod/web-1'])
      const none = await kubectl('get', 'pods', '-l', 'app=none')
      expect(none).toMatchObject({ code: 0, stdout: '', stderr: 'No resources found in default namespace.\n' })
    })

    test('what is not there, in the words of a real one', async () => {
      expect(await refuses('get', 'pod', 'nope')).toBe('Error from server (NotFound): pods "nope" not found\n')
      expect(await refuses('get', 'nopes')).toBe('error: the server doesn\'t have a resource type "nopes"\n')
      expect(await refuses('get', 'pods', '--field-selector', 'spec.nope=1')).toContain('field label not supported: spec.nope')
      expect(await refuses('get', 'pods', '-l', 'a=b=c')).toContain('unable to parse requirement')
    })

    test('-w shows a change as it comes', async () => {
      cluster.apply(statefulSet('watched', 1))
      await ready('sts/watched', 1)
      const watch = kubectl.start('get', 'pods', '-l', 'app=watched', '-w')
      const shown = () => table(watch.stdout()).map(([, readiness, status]) => `${readiness} ${status}`)
      await vi.waitFor(() => expect(shown()).toEqual(['READY STATUS', '1/1 Running']), 10_000)
      await prints('delete', 'sts', 'watched')
      await vi.waitFor(() => expect(shown().at(-1)).toContain(' Terminating'), 10_000)
      expect(watch.stdout().match(/NAME/g)).toHaveLength(1)
      await watch.stop()
    })
  })

  test('describe tells of the pod and of what has happened to it', async () => {
    const pod = await prints('describe', 'pod', 'web-1')
    for (const part of [
      'Controlled By:  StatefulSet/web',
      'Image ID:       sha256:1',
      'QoS Class:',
      'Ready                       True',
    ]) {
      expect(pod).toContain(part)
    }
    expect(pod).toMatch(/Scheduled .* default-scheduler {2}Successfully assigned default\/web-1 to node-/)
    expect(pod).toMatch(/Started .* kubelet {12}Container app started/)
    expect(await prints('describe', 'sts', 'web')).toContain('3 Running / 0 Waiting')
    expect(await prints('describe', 'node', 'node-0')).toContain('Non-terminated Pods:')
  })

  describe('patch', () => {
    test('strategic: an image of one container by its name, which restarts that one', async () => {
      const before = await field('pod/web-0', '{.status.containerStatuses[?(@.name=="proxy")].containerID}')
      const patch = { spec: { containers: [{ name: 'app', image: 'app:v2' }] } }
      expect(await prints('patch', 'pod', 'web-0', '-p', JSON.stringify(patch))).toBe('pod/web-0 patched\n')
      await prints(
        'wait',
        'pod/web-0',
        '--for=jsonpath={.status.containerStatuses[?(@.name=="app")].imageID}=sha256:2',
        '--timeout=25s',
      )
      await prints('wait', 'pod/web-0', '--for=condition=Ready', '--timeout=25s')
      expect(await field('pod/web-0', '{.spec.containers[*].image}')).toBe('app:v2 app:v1')
      expect(await field('pod/web-0', '{.status.containerStatuses[?(@.name=="proxy")].containerID}')).toBe(before)
      expect(table(await prints('get', 'pod', 'web-0'))[1]!.slice(0, 4)).toEqual([
        'web-0',
        '2/2',
        'Running',
        expect.stringMatching(/^1 \(\d+s ago\)$/),
      ])
    })

    test('merge: a list is replaced as a whole, which for a pod is refused', async () => {
      const labels = JSON.stringify({ metadata: { labels: { tier: 'front', app: null } } })
      cluster.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'labelled', labels: { app: 'x' } } })
      await prints('patch', 'configmap', 'labelled', '--type', 'merge', '-p', labels)
      expect(await field('configmap/labelled', '{.metadata.labels}')).toBe('{"tier":"front"}')
      const one = JSON.stringify({ spec: { containers: [{ name: 'app', image: 'app:v2' }] } })
      expect(await refuses('patch', 'pod', 'web-1', '--type', 'merge', '-p', one)).toContain(
        'pod updates may not add or remove containers',
      )
    })

    test('JSON: guarded by a test, which holds or does not', async () => {
      const patch = (now: string) =>
        JSON.stringify([
          { op: 'test', path: '/spec/containers/0/image', value: now },
          { op: 'replace', path: '/spec/containers/0/image', value: 'app:v2' },
        ])
      const refused = await refuses('patch', 'pod', 'web-2', '--type', 'json', '-p', patch('app:v3'))
      expect(refused).toContain('the server rejected our request due to an error in our request')
      expect(await field('pod/web-2', '{.spec.containers[0].image}')).toBe('app:v1')
      await prints('patch', 'pod', 'web-2', '--type', 'json', '-p', patch('app:v1'))
      expect(await field('pod/web-2', '{.spec.containers[0].image}')).toBe('app:v2')
    })

    test('of what must not change is refused', async () => {
      const error = await refuses('patch', 'pod', 'web-0', '-p', '{"spec":{"restartPolicy":"Never"}}')
      expect(error).toContain('The Pod "web-0" is invalid: spec: Forbidden: pod updates may not change fields other than')
    })
  })

  test('annotate and label', async () => {
    expect(await prints('annotate', 'pod', 'web-0', 'example.com/note=one')).toBe('pod/web-0 annotated\n')
    expect(await refuses('annotate', 'pod', 'web-0', 'example.com/note=two')).toContain('--overwrite is false')
    await prints('annotate', 'pod', 'web-0', 'example.com/note=two', '--overwrite')
    expect(await field('pod/web-0', '{.metadata.annotations.example\\.com/note}')).toBe('two')
    await prints('annotate', 'pod', 'web-0', 'example.com/note-')
    expect(await field('pod/web-0', '{.metadata.annotations.example\\.com/note}')).toBe('')
    await prints('label', 'pod', 'web-0', 'tier=front')
    expect(await prints('get', 'pods', '-l', 'tier=front', '-o', 'name')).toBe('pod/web-0\n')
    expect(await refuses('label', 'pod', 'web-0', 'tier=not valid', '--overwrite')).toContain('a valid label must be')
  })

  test('apply: created, unchanged, configured, and what is no longer said is taken away', async () => {
    const name = 'settings'
    const apply = async (...objects: object[]) => {
      const list = { apiVersion: 'v1', kind: 'List', items: objects }
      const { code, stdout, stderr } = await kubectl.withInput(JSON.stringify(list), 'apply', '-f', '-')
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      return lines(stdout)
    }
    const settings = (data: Record<string, string>) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      data,
    })
    const template = (image: string) => statefulSet('applied', 1, [{ ...CONTAINER, image }])
    const one = [settings({ a: '1', b: '1' }), template('app:v1')]
    expect(await apply(...one)).toEqual(['configmap/settings created', 'statefulset.apps/applied created'])
    expect(await apply(...one)).toEqual(['configmap/settings unchanged', 'statefulset.apps/applied unchanged'])
    expect(await apply(settings({ a: '2' }), template('app:v2'))).toEqual([
      'configmap/settings configured',
      'statefulset.apps/applied configured',
    ])
    expect(await field('configmap/settings', '{.data}')).toBe('{"a":"2"}')
    expect(await field('statefulset/applied', '{.spec.template.spec.containers[0]}')).toContain('"readinessProbe"')
    expect(await field('statefulset/applied', '{.spec.template.spec.containers[*].image}')).toBe('app:v2')
    await prints('delete', 'sts/applied', 'cm/settings')
  })

  test('scale and set image', async () => {
    cluster.apply(statefulSet('scaled', 1))
    expect(await prints('scale', 'sts/scaled', '--replicas=2')).toBe('statefulset.apps/scaled scaled\n')
    await ready('sts/scaled', 2)
    expect(await refuses('scale', 'sts/scaled', '--replicas=3', '--current-replicas=1')).toContain(
      'Expected replicas to be 1, was 2',
    )
    await prints('scale', 'sts/scaled', '--replicas=1', '--current-replicas=2')
    await prints('set', 'image', 'sts/scaled', 'app=app:v2')
    expect(await field('sts/scaled', '{.spec.replicas} {.spec.template.spec.containers[*].image}')).toBe('1 app:v2')
    await prints('delete', 'sts/scaled')
  })

  test('delete waits until the pod is gone; its owner makes another', async () => {
    cluster.apply(statefulSet('deleted', 1))
    await ready('sts/deleted', 1)
    const uid = await field('pod/deleted-0', '{.metadata.uid}')
    expect(await prints('delete', 'pod', 'deleted-0')).toMatch(/^pod "deleted-0" deleted/)
    await vi.waitFor(async () => expect(await field('pod/deleted-0', '{.metadata.uid}')).not.toBe(uid), 10_000)
    await prints('delete', 'sts', 'deleted')
    await prints('wait', 'pod/deleted-0', '--for=delete', '--timeout=25s')
    expect(await refuses('delete', 'pod', 'deleted-0')).toContain('pods "deleted-0" not found')
  })

  test('auth can-i asks what the API server would do', async () => {
    expect(await prints('auth', 'can-i', 'patch', 'pods')).toBe('yes\n')
    expect(await prints('auth', 'can-i', '--list')).toMatch(/^\*\.\* +\[\] +\[\] +\[\*\]$/m)
    cluster.apiServer.authorize((_by, { verb, resource }) => !(verb === 'patch' && resource === 'pods'))
    try {
      expect((await kubectl('auth', 'can-i', 'patch', 'pods')).stdout).toBe('no\n')
      expect(await refuses('annotate', 'pod', 'web-0', 'a=b')).toContain(
        'cannot patch resource "pods" in API group "" in the namespace "default"',
      )
    } finally {
      cluster.apiServer.authorize(everybody)
    }
  })

  test('namespaces and ConfigMaps that kubectl makes itself', async () => {
    await prints('create', 'namespace', 'shop')
    await prints('create', 'configmap', 'prices', '-n', 'shop', '--from-literal=tea=3', '--from-literal=milk=')
    expect(JSON.parse(await prints('get', 'configmap', 'prices', '-n', 'shop', '-o', 'json'))).toMatchObject({
      data: { tea: '3', milk: '' },
    })
    expect(await refuses('create', 'serviceaccount', 'one')).toContain('send JSON, as kubectl apply and create -f do')
    await prints('delete', 'configmap', 'prices', '-n', 'shop')
    await prints('delete', 'namespace', 'shop')
  })

  test('what there is not is refused in words', async () => {
    expect(await refuses('logs', 'web-0', '-c', 'app')).toBe(
      'Error from server (NotImplemented): containers of the embedded cluster write no logs\n',
    )
    expect(await refuses('exec', 'web-0', '-c', 'app', '--', 'ls')).toContain('there is nothing to execute')
    expect(await refuses('delete', 'sts', 'web', '--cascade=orphan')).toContain('the embedded cluster orphans nothing')
    expect(await field('sts/web', '{.metadata.name}')).toBe('web')
  })
})
