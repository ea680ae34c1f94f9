import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { stringify } from 'yaml'
import {
  address,
  before,
  condition,
  endpoint,
  endpointsOf,
  node,
  NOW,
  pod,
  service,
  slice,
} from '../webhook/decide/testing/world.ts'
import { startChild } from './testing/child.ts'

/* `sluice webhook explain` as a process, on files alone. */

// The tests start whole processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 })

const ENTRY = join(import.meta.dirname, 'sluice.ts')
const GOLDEN = '../../test/golden'
const RULES = `apiVersion: sluice.dev/v1
kind: EndpointRules
metadata: {version: v7}
mode: enforce
rules:
  - use: late-heartbeat
    with: {within: 5m, floor: 50%}
  - name: marked
    when: pod.metadata.labels[?"example.com/out"].orValue("") == "true"
    effect: notReady
  - name: needs-a-zone
    when: endpoint.zone == "a"
    effect: serving
`
const READY = { ready: true, serving: true }
const OUT = { ready: false, serving: false }
const metadataOf = (name: string, labels: object): object => ({ name, namespace: 'shop', uid: `uid-of-${name}`, labels })
const typed = (kind: string, object: object): object => ({ apiVersion: 'v1', kind, ...object })
const listOf = (items: readonly object[]): object => ({ apiVersion: 'v1', kind: 'List', items })

let folder: string
const write = (name: string, content: object | string): void =>
  writeFileSync(join(folder, name), typeof content === 'string' ? content : stringify(content, { aliasDuplicateObjects: false }))

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-webhook-explain-'))
  const silent = [condition('ContainersReady', 'True'), condition('Ready', 'False', { lastTransitionTime: before(60_000) })]
  const marked = pod(2, { metadata: metadataOf('web-2', { app: 'web', 'example.com/out': 'true' }) })
  write('rules.yaml', RULES)
  write('slice.yaml', slice([endpoint(1, OUT), endpoint(2, READY), endpoint(3, READY, { zone: 'b' }), endpoint(9, READY)]))
  write('old.yaml', slice([endpoint(1, READY), endpoint(2, READY), endpoint(3, READY, { zone: 'b' })]))
  const endpoints = endpointsOf([{ addresses: [address(2)], ports: [{ name: 'http', port: 8080, protocol: 'TCP' }] }])
  write('both.json', JSON.stringify(listOf([slice([endpoint(2, READY, { zone: 'a' })]), endpoints])))
  const notReady = [4, 5].map((index) => pod(index, { status: { conditions: [condition('Ready', 'False')] } }))
  const pods = [pod(1, { status: { conditions: silent } }), marked, pod(3), ...notReady].map((one) => typed('Pod', one))
  write('shop.yaml', listOf([typed('Service', service), ...pods]))
  write('nodes.json', JSON.stringify({ kind: 'NodeList', apiVersion: 'v1', items: [node] }))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** No cluster can be asked: the kubeconfig is not there. */
async function explain(...args: string[]) {
  const command = [ENTRY, 'webhook', 'explain', ...args]
  const child = startChild(command, { cwd: folder, env: { HOME: folder, KUBECONFIG: join(folder, 'none') } })
  return { code: await child.end(), stdout: child.stdout(), stderr: child.stderr() }
}

const AT = ['--at', new Date(NOW).toISOString()]
const WITH = ['--with', 'shop.yaml', '--with', 'nodes.json', ...AT]

describe('it explains the decision about each endpoint, and exits with 0', () => {
  test('as text, with the stored object that keepPrevious goes by', async () => {
    const { code, stdout, stderr } = await explain('rules.yaml', '--object', 'slice.yaml', '--old', 'old.yaml', ...WITH)
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/late-heartbeat/)
    await expect(stdout).toMatchFileSnapshot(`${GOLDEN}/webhook-explain.txt`)
  })

  test('as JSON, for an EndpointSlice and Endpoints of one List', async () => {
    const { code, stdout, stderr } = await explain('rules.yaml', '--object', 'both.json', '-o', 'json', ...WITH)
    expect([code, stderr]).toEqual([0, ''])
    expect(JSON.parse(stdout)).toMatchObject({ apiVersion: 'sluice.dev/v1', kind: 'EndpointRulesExplanation' })
    await expect(stdout).toMatchFileSnapshot(`${GOLDEN}/webhook-explain.json`)
  })

  test('the time decides: a pod is kept for four minutes more, and no longer', async () => {
    const later = async (ms: number) => {
      const at = ['--at', new Date(NOW + ms).toISOString()]
      const files = ['--object', 'slice.yaml', '--old', 'old.yaml', '--with', 'shop.yaml', '--with', 'nodes.json']
      return (await explain('rules.yaml', ...files, ...at)).stdout
    }
    expect(await later(239_000)).toContain('10.0.0.1 of pod web-1: ready, by rule late-heartbeat')
    expect(await later(241_000)).toContain('10.0.0.1 of pod web-1: not ready, as it is wished')
  })
})

describe('wrong arguments, rules or objects exit with 2, are named on stderr, and nothing is on stdout', () => {
  const OBJECT = ['--object', 'slice.yaml']
  test.each<[string, string[], Record<string, object | string>, RegExp[]]>([
    ['no rules', OBJECT, {}, [/missing required argument 'rules'/]],
    ['no object', ['rules.yaml'], {}, [/required option '--object <file>' not specified/]],
    ['an unknown flag', ['rules.yaml', ...OBJECT, '--context', 'x'], {}, [/unknown option '--context'/]],
    ['a time that is none', ['rules.yaml', ...OBJECT, '--at', 'soon'], {}, [/--at "soon" is no time/]],
    ['rules that are not there', ['none.yaml', ...OBJECT], {}, [/none\.yaml/]],
    [
      'rules with two mistakes: both',
      ['bad.yaml', ...OBJECT],
      { 'bad.yaml': RULES.replace('endpoint.zone', 'endpoint.zones').replace('effect: notReady', 'effect: away') },
      [/zones/, /away/],
    ],
    ['an object file that is not there', ['rules.yaml', '--object', 'none.yaml'], {}, [/none\.yaml: there is no such file/]],
    [
      'an object file with pods alone',
      ['rules.yaml', '--object', 'shop.yaml'],
      {},
      [/shop\.yaml: has no EndpointSlice and no End/],
    ],
    [
      'a document without a kind',
      ['rules.yaml', '--object', 'a.yaml'],
      { 'a.yaml': 'a: 1\n' },
      [/a\.yaml: has an object without a kind/],
    ],
    [
      'no YAML',
      ['rules.yaml', '--object', 'b.yaml'],
      { 'b.yaml': 'a: 1\nb: [1\n' },
      [/b\.yaml: is no YAML or JSON from line \d on/],
    ],
    [
      'a slice that no API server has',
      ['rules.yaml', '--object', 'c.yaml'],
      { 'c.yaml': slice([{ addresses: '10.0.0.1' }]) },
      [/EndpointSlice web-1: /],
    ],
    [
      'a pod that no API server has',
      ['rules.yaml', ...OBJECT, '--with', 'd.yaml'],
      { 'd.yaml': typed('Pod', { ...pod(1), spec: { containers: 'app' } }) },
      [/Pod web-1: spec\.containers is not as the API server has it/],
    ],
  ])('%s', async (_, args, files, messages) => {
    for (const [name, content] of Object.entries(files)) write(name, content)
    const { code, stdout, stderr } = await explain(...args)
    expect({ code, stdout }, stderr).toEqual({ code: 2, stdout: '' })
    for (const message of messages) expect(stderr).toMatch(message)
  })
})
