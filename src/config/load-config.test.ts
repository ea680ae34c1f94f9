import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Adapter, AdapterDefinition, UnversionedDocument } from '../../adapters/contract.ts'
import { ConfigError } from './config-error.ts'
import { createLoadBalancers } from './create-load-balancers.ts'
import type { AdapterSource } from './adapter-source.ts'
import { loadConfig } from './load-config.ts'

/** Replaces the document of the test adapter. */
let saysDocument: (() => unknown) | undefined

const stub: AdapterDefinition = {
  name: 'stub',
  summary: 'For tests.',
  options: z.strictObject({
    socket: z.string(),
    retries: z.int().min(0).max(9).optional(),
    mode: z.enum(['http', 'tcp']).optional(),
    where: z.union([z.strictObject({ host: z.string() }), z.strictObject({ path: z.string(), owner: z.string() })]).optional(),
    hosts: z.array(z.string()).min(1).optional(),
    password: z.int().optional(),
    document: z.enum(['known', 'unknown']).optional(),
  }) as z.ZodType<unknown>,
  document(options) {
    if (saysDocument !== undefined) return saysDocument() as UnversionedDocument
    const { document } = options as { document?: string }
    return document === undefined ? undefined : document === 'known' ? { identity: 'http://edge:8080/api' } : {}
  },
  create: (options, { name }) => ({ made: { options, name } }) as unknown as Adapter,
}

const adapters: AdapterSource = {
  adapterNames: ['stub', 'broken'],
  loadAdapter: async (name) => {
    if (name === 'broken') throw new Error('its library is missing')
    return stub
  },
}

let folder: string
let file: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-config-'))
  file = join(folder, 'sluice.yaml')
})
afterAll(() => rmSync(folder, { recursive: true }))

async function load(content: string | Uint8Array) {
  writeFileSync(file, content)
  return loadConfig(file, adapters)
}

/** The message without the folder, which differs in each run. */
async function refusal(content: string | Uint8Array): Promise<string> {
  const error = await load(content).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(ConfigError)
  return (error as ConfigError).message.replaceAll(`${folder}/`, '')
}

const HEAD = 'apiVersion: sluice.dev/v1\nkind: Config\n'
const BALANCERS = 'loadBalancers:\n  - {name: edge, adapter: stub, port: 8080, options: {socket: /run/s}}\n'
const VALID = HEAD + BALANCERS

describe('a config that is right', () => {
  test('has defaults for all but the load balancers', async () => {
    const config = await load(VALID)
    expect(config.settings).toEqual({
      maxUnavailable: { count: 1 },
      readyForMs: 0,
      onFailure: 'hold',
      drainDeadlineMs: 60_000,
      onDrainDeadline: 'fail',
      restartDeadlineMs: 300_000,
      rollbackDeadlineMs: 600_000,
      readyDeadlineMs: 600_000,
      restoreDeadlineMs: 60_000,
    })
    expect(config.loadBalancers).toMatchObject([{ name: 'edge', adapter: 'stub', port: 8080, options: { socket: '/run/s' } }])
  })

  test('says everything itself', async () => {
    const { settings, loadBalancers } = await load(`${HEAD}loadBalancers:
  - name: edge
    adapter: stub
    port: http-alt
    options: &o {socket: /run/s, retries: 3}
  - {name: inner, adapter: stub, port: 9090, options: *o}
drain: {deadline: 2m, onDeadline: proceed, settle: 500ms, notFor: [log-agent]}
rollout: {maxUnavailable: 25%, readyFor: 10s, onFailure: hold}
deadlines: {restart: 1h, rollback: 2h, ready: 1m30s, restore: 90s}
`)
    expect(settings).toEqual({
      maxUnavailable: { percent: 25 },
      readyForMs: 10_000,
      onFailure: 'hold',
      drainDeadlineMs: 120_000,
      onDrainDeadline: 'proceed',
      settleMs: 500,
      drainNotFor: ['log-agent'],
      restartDeadlineMs: 3_600_000,
      rollbackDeadlineMs: 7_200_000,
      readyDeadlineMs: 90_000,
      restoreDeadlineMs: 90_000,
    })
    expect(loadBalancers.map(({ name, port, options }) => [name, port, options])).toEqual([
      ['edge', 'http-alt', { socket: '/run/s', retries: 3 }],
      ['inner', 9090, { socket: '/run/s', retries: 3 }],
    ])
  })

  test.each([
    ['the adapter knows it', 'known', '{namespace: release}', { document: 'http://edge:8080/api' }],
    ['the config names it', 'known', '{namespace: release, key: pool}', { document: 'pool' }],
    ['nothing needs it', undefined, '{namespace: release, key: pool}', { document: 'pool' }],
    [
      'the Lease is in another cluster',
      'unknown',
      '{namespace: release, key: pool, kubeconfig: hub.kubeconfig, context: hub}',
      { document: 'pool', kubeconfig: 'hub.kubeconfig', context: 'hub' },
    ],
  ])('has a lock of a document: %s', async (_, document, lock, { kubeconfig, ...expected }: Record<string, string>) => {
    const options = `{socket: /a${document === undefined ? '' : `, document: ${document}`}}`
    const { loadBalancers } = await load(
      `${HEAD}loadBalancers:\n  - {name: a, adapter: stub, port: 80, options: ${options}, lock: ${lock}}\n`,
    )
    const where = kubeconfig === undefined ? {} : { kubeconfig: join(folder, kubeconfig) }
    expect(loadBalancers[0]!.lock).toEqual({ namespace: 'release', ...expected, ...where })
  })

  test('becomes load balancers', async () => {
    const [balancer] = createLoadBalancers(await load(VALID))
    expect(balancer).toMatchObject({ name: 'edge', adapterName: 'stub', port: 8080 })
    expect(balancer?.adapter).toEqual({ made: { options: { socket: '/run/s' }, name: 'edge' } })
  })
})

describe('each mistake has a place, a field, a value and a way out', () => {
  test.each<[string, string, string]>([
    [
      'a mistyped key',
      `${VALID}rollout: {maxUnavailabel: 2}\n`,
      'sluice.yaml:5:11: rollout.maxUnavailabel: unknown key\n    did you mean "maxUnavailable"?',
    ],
    [
      'a key of another section',
      `${VALID}readyFor: 5s\n`,
      'sluice.yaml:5:1: readyFor: unknown key\n    it belongs under rollout',
    ],
    [
      'a key like no other',
      `${VALID}drain:\n  sleep: 5s\n`,
      'sluice.yaml:6:3: drain.sleep: unknown key\n    known here: deadline, onDeadline, settle, order, notFor',
    ],
    [
      'a duration without a unit',
      `${VALID}drain: {deadline: 60}\n`,
      'sluice.yaml:5:19: drain.deadline: 60 has no unit\n    write "60s" for seconds or "60ms" for milliseconds',
    ],
    [
      'an order that is no list',
      `${VALID}drain: {order: edge}\n`,
      'sluice.yaml:5:16: drain.order: "edge" is not a list\n    write a list, such as ["edge"]',
    ],
    [
      'a deadline of nothing',
      `${VALID}deadlines: {restore: 0s}\n`,
      'sluice.yaml:5:22: deadlines.restore: "0s" is too short\n    a deadline of 0 would always have passed',
    ],
    [
      'a mistyped choice',
      `${VALID}drain: {onDeadline: proced}\n`,
      'sluice.yaml:5:21: drain.onDeadline: "proced" is none of fail, proceed\n    did you mean "proceed"?',
    ],
    [
      'a failure that is to be undone otherwise',
      `${VALID}rollout: {onFailure: undo}\n`,
      'sluice.yaml:5:22: rollout.onFailure: "undo" is none of hold, rollback\n    write hold or rollback',
    ],
    [
      'a window of nothing',
      `${VALID}rollout: {maxUnavailable: 0}\n`,
      'sluice.yaml:5:27: rollout.maxUnavailable: 0 would never let a pod go\n    write a number of pods from 1 up, or a share such as "25%" (1% to 100%, rounded down, at least one pod)',
    ],
    [
      'an empty section',
      `${VALID}drain:\n`,
      'sluice.yaml:5:1: drain: is empty\n    remove the key, or give it a mapping (key: value)',
    ],
    [
      'another apiVersion',
      `apiVersion: sluice.dev/v2\nkind: Config\n${BALANCERS}`,
      'sluice.yaml:1:13: apiVersion: "sluice.dev/v2" is not understood\n    did you mean "sluice.dev/v1"?',
    ],
    ['no kind', `apiVersion: sluice.dev/v1\n${BALANCERS}`, 'sluice.yaml:1:1: kind: is missing\n    write kind: Config'],
    ['no load balancer', `${HEAD}loadBalancers: []\n`, 'sluice.yaml:3:16: loadBalancers: is empty\n    entries: at least 1'],
    [
      'no lock of a document without a version',
      `${HEAD}loadBalancers:\n  - {name: a, adapter: stub, port: 80, options: {socket: /a, document: known}}\n`,
      'sluice.yaml:4:5: loadBalancers[0].lock: is missing: a change replaces a whole document that has no version, so that of two writers at once one is lost\n    write lock: {namespace: NAMESPACE}: the Lease that all its writers take',
    ],
    [
      'no lock of a document that the adapter cannot name',
      `${HEAD}loadBalancers:\n  - {name: a, adapter: stub, port: 80, options: {socket: /a, document: unknown}}\n`,
      'sluice.yaml:4:5: loadBalancers[0].lock: is missing: a change replaces a whole document that has no version, so that of two writers at once one is lost\n    write lock: {namespace: NAMESPACE, key: NAME}: the Lease that all its writers take',
    ],
    [
      'a lock that names no document',
      `${HEAD}loadBalancers:\n  - {name: a, adapter: stub, port: 80, options: {socket: /a, document: unknown}, lock: {namespace: release}}\n`,
      'sluice.yaml:4:88: loadBalancers[0].lock.key: is missing: adapter stub does not know which document it writes\n    name the document, the same for all that write it, such as its URL or path',
    ],
    [
      'a lock without a namespace, and one that is none',
      `${HEAD}loadBalancers:\n  - {name: a, adapter: stub, port: 80, options: {socket: /a}, lock: {key: x}}\n  - {name: b, adapter: stub, port: 80, options: {socket: /b}, lock: {namespace: Prod}}\n`,
      'sluice.yaml:4:69: loadBalancers[0].lock.namespace: is missing\n    write namespace: with text\n' +
        'sluice.yaml:5:81: loadBalancers[1].lock.namespace: "Prod" is no namespace\n    use small letters, digits and "-", such as release',
    ],
    [
      'two rates of one account',
      `${HEAD}loadBalancers:\n  - {name: a, adapter: stub, port: 80, options: {socket: /a}, rate: {calls: 1, per: 1s, account: x}}\n  - {name: b, adapter: stub, port: 80, options: {socket: /b}, rate: {calls: 2, per: 1s, account: x}}\n`,
      'sluice.yaml:5:69: loadBalancers[1].rate: is another rate of account "x" than that of loadBalancers[0]\n    give both the same calls and per',
    ],
    [
      'a turn of a load balancer that is not there',
      `${VALID}drain: {order: [edgy]}\n`,
      'sluice.yaml:5:17: drain.order[0]: "edgy" is no name of a load balancer\n    did you mean "edge"?',
    ],
    [
      'two turns of one load balancer',
      `${VALID}drain: {order: [edge, edge]}\n`,
      'sluice.yaml:5:23: drain.order[1]: "edge" is named twice\n    name each load balancer once',
    ],
    [
      'a container without a name',
      `${VALID}drain: {notFor: [""]}\n`,
      'sluice.yaml:5:18: drain.notFor[0]: "" cannot be the name of a container\n' +
        '    write the name of a container as it stands in the pod, such as log-agent',
    ],
    [
      'a container that is named twice',
      `${VALID}drain: {notFor: [log-agent, log-agent]}\n`,
      'sluice.yaml:5:29: drain.notFor[1]: "log-agent" is named twice\n    name each container once',
    ],
    [
      'a settle time that no drain survives',
      `${VALID}drain: {deadline: 10s, settle: 10s}\n`,
      'sluice.yaml:5:32: drain.settle: a settle time of 10s is not shorter than the drain deadline, 10s\n' +
        '    every drain would miss its deadline: make the drain deadline longer or the settle time shorter',
    ],
    [
      'a readyFor that no pod reaches',
      `${VALID}rollout: {readyFor: 11m}\n`,
      'sluice.yaml:5:21: rollout.readyFor: being ready for 11m is not shorter than the ready deadline, 10m\n' +
        '    no pod could be ready for that long in time: make the ready deadline longer or the time of being ready shorter',
    ],
    [
      'a window without an end',
      `${VALID}rollout: {maxUnavailable: .inf}\n`,
      'sluice.yaml:5:27: rollout.maxUnavailable: .inf is neither a number of pods nor a share of them\n    write a number of pods from 1 up, or a share such as "25%" (1% to 100%, rounded down, at least one pod)',
    ],
    [
      'no duration',
      `${VALID}drain: {deadline: null}\n`,
      'sluice.yaml:5:9: drain.deadline: is empty\n    remove the key, or write a whole number with a unit, such as 500ms, 60s, 5m, 1h or 1m30s',
    ],
    [
      'a list of durations',
      `${VALID}drain: {deadline: [5s]}\n`,
      'sluice.yaml:5:19: drain.deadline: a list is not a duration\n    write a whole number with a unit, such as 500ms, 60s, 5m, 1h or 1m30s',
    ],
    [
      'a token that is taken for the config is not shown',
      'hunter2\n',
      'sluice.yaml:1:1: a single value is not a mapping (key: value)\n    it needs at least apiVersion, kind and loadBalancers',
    ],
    [
      'a list at the top',
      '- 1\n',
      'sluice.yaml:1:1: a list is not a mapping (key: value)\n    it needs at least apiVersion, kind and loadBalancers',
    ],
  ])('%s', async (_name, content, expected) => {
    expect(await refusal(content)).toBe(expected)
  })

  test.each<[string, string, string]>([
    [
      'no port',
      '{name: edge, adapter: stub, options: {socket: s}}',
      ':4:5: loadBalancers[0].port: is missing\n    write the container port, from 1 to 65535, or its name in the pod',
    ],
    [
      'a port as text',
      '{name: edge, adapter: stub, port: "80", options: {socket: s}}',
      ':4:39: loadBalancers[0].port: "80" is text\n    write 80 without quotes',
    ],
    [
      'a port out of range',
      '{name: edge, adapter: stub, port: 65536, options: {socket: s}}',
      ':4:39: loadBalancers[0].port: 65536 is not a port\n    write the container port, from 1 to 65535, or its name in the pod',
    ],
    ...['.nan', '1e400', '-.inf'].map((port): [string, string, string] => [
      `a port that is ${port}`,
      `{name: edge, adapter: stub, port: ${port}, options: {socket: s}}`,
      `:4:39: loadBalancers[0].port: ${port.replace('1e400', '.inf')} is not a port\n    write the container port, from 1 to 65535, or its name in the pod`,
    ]),
    [
      'a name in capitals',
      '{name: Edge, adapter: stub, port: 80, options: {socket: s}}',
      ':4:12: loadBalancers[0].name: "Edge" cannot be a name\n    use up to 63 lower-case letters, digits and "-", with no "-" at the ends',
    ],
    [
      'a mistyped adapter',
      '{name: edge, adapter: stubb, port: 80}',
      ':4:27: loadBalancers[0].adapter: "stubb" is no known adapter\n    did you mean "stub"?',
    ],
    [
      'an unknown adapter',
      '{name: edge, adapter: nginx, port: 80}',
      ':4:27: loadBalancers[0].adapter: "nginx" is no known adapter\n    known adapters: stub, broken',
    ],
    [
      'an adapter that does not load',
      '{name: edge, adapter: broken, port: 80}',
      ':4:27: loadBalancers[0].adapter: adapter broken cannot be loaded: its library is missing',
    ],
    [
      'a mistyped key that is required',
      '{name: edge, adaptor: stub, port: 80}',
      ':4:18: loadBalancers[0].adaptor: unknown key\n    did you mean "adapter"?',
    ],
    [
      'an option beside options',
      '{name: edge, adapter: stub, port: 80, url: x, options: {socket: s}}',
      ":4:43: loadBalancers[0].url: unknown key\n    the adapter's own settings go under options",
    ],
    [
      'no options where some are required',
      '{name: edge, adapter: stub, port: 80}',
      ':4:5: loadBalancers[0].options.socket: is missing\n    write socket: with text',
    ],
    [
      'a mistyped option',
      '{name: edge, adapter: stub, port: 80, options: {sockt: s}}',
      ':4:53: loadBalancers[0].options.sockt: unknown key\n    did you mean "socket"?',
    ],
    [
      'an option of another type',
      '{name: edge, adapter: stub, port: 80, options: {socket: 3}}',
      ':4:61: loadBalancers[0].options.socket: 3 is not text\n    put it in quotes',
    ],
    [
      'an option that is too large',
      '{name: edge, adapter: stub, port: 80, options: {socket: s, retries: 10}}',
      ':4:73: loadBalancers[0].options.retries: 10 is too large\n    at most 9',
    ],
    [
      'an empty list as option',
      '{name: edge, adapter: stub, port: 80, options: {socket: s, hosts: []}}',
      ':4:71: loadBalancers[0].options.hosts: is empty\n    entries: at least 1',
    ],
    [
      'the nearest alternative of a union',
      '{name: edge, adapter: stub, port: 80, options: {socket: s, where: {hots: x}}}',
      ':4:72: loadBalancers[0].options.where.hots: unknown key\n    did you mean "host"?',
    ],
    [
      'a list in the place of the options',
      '{name: edge, adapter: stub, port: 80, options: []}',
      ':4:52: loadBalancers[0].options: a list is not a mapping (key: value)\n    write its keys in its place, each as key: value',
    ],
    [
      'a secret of the wrong type is not shown',
      '{name: edge, adapter: stub, port: 80, options: {socket: s, password: hunter2}}',
      ':4:74: loadBalancers[0].options.password: the value is not a number',
    ],
  ])('%s', async (_name, entry, expected) => {
    expect(await refusal(`${HEAD}loadBalancers:\n  - ${entry}\n`)).toBe(`sluice.yaml${expected}`)
  })

  test('all mistakes are named at once, in the order of the file', async () => {
    expect(
      await refusal(`apiVersion: sluice.dev/v1
kind: Conf
loadBalancers:
  - {name: edge, adapter: stub, port: 8080, options: {socket: 1}}
  - {name: edge, adapter: stbu, port: 8080}
drain: {deadline: 60}
rollot: {}
`),
    ).toBe(
      `sluice.yaml:2:7: kind: "Conf" is not understood
    did you mean "Config"?
sluice.yaml:4:63: loadBalancers[0].options.socket: 1 is not text
    put it in quotes
sluice.yaml:5:12: loadBalancers[1].name: "edge" is the name of loadBalancers[0] too
    the journal of a pod tells load balancers apart by name: choose another one
sluice.yaml:5:27: loadBalancers[1].adapter: "stbu" is no known adapter
    did you mean "stub"?
sluice.yaml:6:19: drain.deadline: 60 has no unit
    write "60s" for seconds or "60ms" for milliseconds
sluice.yaml:7:1: rollot: unknown key
    did you mean "rollout"?`,
    )
  })

  test('an error carries its parts', async () => {
    const error = (await load(`${VALID}drain: {deadline: 60}\n`).catch((reason: unknown) => reason)) as ConfigError
    expect(error.component).toBe('config')
    expect(error.issues).toEqual([
      {
        path: 'drain.deadline',
        message: '60 has no unit',
        hint: 'write "60s" for seconds or "60ms" for milliseconds',
        line: 5,
        column: 19,
      },
    ])
  })

  test('of very many mistakes the first are shown, and the others counted', async () => {
    const keys = Array.from({ length: 24 }, (_, index) => `strange${index}: 1\n`)
    const message = await refusal(`${VALID}${keys.join('')}`)
    expect(message.match(/unknown key/g)).toHaveLength(20)
    expect(message).toContain('sluice.yaml:5:1: strange0: unknown key')
    expect(message.endsWith('sluice.yaml: and 4 more mistakes\n    mend these first; is this the right file?')).toBe(true)
  })

  test('the time for mistakes does not grow with the square of their number', async () => {
    const timeOf = async (count: number) => {
      const content = `${VALID}${Array.from({ length: count }, (_, index) => `strange${index}: 1\n`).join('')}`
      const beganAt = performance.now()
      await refusal(content)
      return performance.now() - beganAt
    }
    await timeOf(1000)
    // A check of quadratic cost takes 256 times as long for 16 times as many keys.
    expect(await timeOf(16_000)).toBeLessThan(100 * (await timeOf(1000)))
  })

  test('keys that are dangerous in JavaScript are unknown keys like others', async () => {
    expect(await refusal(`${VALID}__proto__: {drain: 1}\nconstructor: 1\n`)).toMatch(
      /:5:1: __proto__: unknown key[^]*:6:1: constructor: unknown key/,
    )
  })
})

describe('a file that is no config', () => {
  test.each<[string, string | Uint8Array, string]>([
    ['empty', '', 'sluice.yaml: is empty\n    it needs at least apiVersion, kind and loadBalancers'],
    ['only comments', '# nothing\n---\n', 'sluice.yaml: is empty\n    it needs at least apiVersion, kind and loadBalancers'],
    [
      'two documents',
      `${VALID}---\n${VALID}`,
      'sluice.yaml:5:1: a second YAML document begins here\n    keep one document a file',
    ],
    ['a key twice', `${VALID}kind: Config\n`, `sluice.yaml:5:1: "kind" stands here a second time\n    remove one of the two`],
    [
      'a tab as indentation',
      'drain:\n\tdeadline: 1s\n',
      'sluice.yaml:2:1: YAML: Tabs are not allowed as indentation\n    indent with spaces',
    ],
    [
      'an alias of nothing, as a pattern without quotes is',
      `${VALID}drain: *.pem\n`,
      'sluice.yaml:5:8: the alias *.pem stands for nothing\n    a text that begins with * needs quotes',
    ],
    [
      'an alias within what it names',
      `${VALID}drain: &all {deadline: 1s, onDeadline: [*all]}\n`,
      'sluice.yaml:5:41: the alias *all stands within what it names\n    write the value out in its place',
    ],
    [
      'an unknown tag',
      `${VALID}drain: !secret {deadline: 1s}\n`,
      'sluice.yaml:5:8: YAML: a tag (!) means nothing in a config\n    a text that begins with ! needs quotes',
    ],
    [
      'an alias that may be a secret',
      `${VALID}drain: {token: *hunter2}\n`,
      'sluice.yaml:5:16: this alias stands for nothing\n    a text that begins with * needs quotes',
    ],
    [
      'a known tag',
      `${VALID}drain: !!binary aGk=\n`,
      'sluice.yaml:5:8: YAML: a tag (!) means nothing in a config\n    a text that begins with ! needs quotes',
    ],
    [
      'a merge key',
      `${VALID}drain: &d {deadline: 1s}\nrollout: {<<: *d}\n`,
      'sluice.yaml:6:11: merge keys (<<) are not supported\n    write the keys out, or give a whole value by alias (key: *name)',
    ],
    [
      'a list that is not closed',
      `${VALID}drain: [a\n`,
      'sluice.yaml:6:1: YAML: Flow sequence in block collection must be sufficiently indented and end with a ]\n    close what is open: [ with ], { with }',
    ],
    [
      'a quote that is not closed',
      `${VALID}kind: "a\n`,
      'sluice.yaml:6:1: YAML: Missing closing "quote\n    close the text with the quote that it begins with',
    ],
    [
      'a backslash, without what follows it',
      `${VALID}token: "\\hunter2"\n`,
      'sluice.yaml:5:9: YAML: Invalid escape sequence\n    write \\\\ for a single \\, or put the text in single quotes',
    ],
    [
      'a NUL character',
      `${VALID}drain: {deadline: "1\0s"}\n`,
      'sluice.yaml:5:1: holds a NUL character, which no text has\n    save the file as UTF-8 text; is this the right file?',
    ],
    ['Latin-1', Uint8Array.of(0x61, 0x3a, 0x0a, 0xe4, 0x0a), 'sluice.yaml:2:1: is not UTF-8 text\n    save the file as UTF-8'],
    [
      'too large',
      '#'.repeat(1 << 21),
      'sluice.yaml: is longer than the 262144 bytes that a config may have\n    is this the right file?',
    ],
    [
      'a bomb of aliases',
      `a: &a [x, x, x, x, x, x, x, x, x, x]\n${[...'bcdefgh'].map((key, index) => `${key}: &${key} [${Array(10).fill(`*${'abcdefgh'[index]}`).join(', ')}]\n`).join('')}`,
      'sluice.yaml: its aliases (*name) multiply without end\n    write the values out instead of repeating them by alias',
    ],
  ])('%s', async (_name, content, expected) => {
    expect(await refusal(content)).toBe(expected)
  })

  test('nested too deep', async () => {
    const told = await refusal('['.repeat(100_000))
    expect(told).toContain('YAML: nested too deep')
    // The message contains no text of the parser, and no follow-up error.
    expect(told.match(/YAML:/g)).toHaveLength(1)
  })

  test('no file, and a folder', async () => {
    const hint = '\n    name the config with --config FILE or SLUICE_CONFIG; without either it is ./sluice.yaml'
    await expect(loadConfig(join(folder, 'none.yaml'), adapters)).rejects.toThrow(`none.yaml: there is no such file${hint}`)
    await expect(loadConfig(folder, adapters)).rejects.toThrow(`${folder}: is a directory${hint}`)
  })
})

test.each<[string, () => unknown, string]>([
  [
    'fails',
    () => {
      throw new Error('url is undefined')
    },
    'document fails: url is undefined',
  ],
  ['waits', () => Promise.reject(new Error('late')), 'document gives a promise'],
  ['gives no object', () => null, 'document gives null'],
  ['gives a number', () => ({ identity: 5 }), 'document gives {"identity":5}'],
  ['gives nothing as a name', () => ({ identity: '' }), 'document gives {"identity":""}'],
])('a plugin whose document %s is named', async (_, says, problem) => {
  saysDocument = says
  const message = await refusal(VALID)
  saysDocument = undefined
  expect(message).toContain(`loadBalancers[0].adapter: adapter stub cannot be used: ${problem}\n    mend the adapter: `)
})
