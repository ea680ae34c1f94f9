import { expect, test } from 'vitest'
import type { AdapterDefinition } from '../../adapters/contract.ts'
import type { KubeClient } from '../kube/client.ts'
import { checkConfig, loadConfig } from './config.ts'
import type { Cluster } from './cluster.ts'
import { connect } from './connect.ts'
import { createSluice, type Sluice } from './create-sluice.ts'
import type { SluiceOptions } from './options.ts'
import type { PlannedUpgrade } from './plan.ts'
import { RequestError, type RequestIssue } from './request/request-error.ts'

/* Invalid arguments are refused with the field, the value and a hint, before any request to the cluster. */

const asked: string[] = []

function cluster(): Cluster {
  const refuse =
    (verb: string) =>
    (path: string): Promise<never> => {
      asked.push(`${verb} ${path}`)
      return Promise.reject(new Error(`${verb} ${path} was asked`))
    }
  const verbs = ['get', 'create', 'replace', 'patch', 'delete', 'watch']
  const client = Object.fromEntries(verbs.map((verb) => [verb, refuse(verb)])) as unknown as KubeClient
  return { client, namespace: 'shop', close: async () => {} }
}

const DOCUMENT = {
  apiVersion: 'sluice.dev/v1',
  kind: 'Config',
  loadBalancers: [{ name: 'edge', adapter: 'haproxy', port: 80, options: { socket: '/run/admin.sock', backend: 'web' } }],
}

async function issuesOf(act: () => unknown): Promise<readonly RequestIssue[] | undefined> {
  asked.length = 0
  try {
    await act()
  } catch (error) {
    if (!(error instanceof RequestError) || error.component !== 'library' || asked.length > 0) throw error
    return error.issues
  }
  return undefined
}

const AWAIT = { message: 'is a Promise', hint: 'await it' }
const CHECKED = "give what 'await loadConfig(file)' or 'await checkConfig(document)' gives"

test.each<[string, object | undefined, RequestIssue]>([
  ['no options', undefined, { field: 'options', message: 'is missing', hint: 'give an object' }],
  ['no cluster', {}, { field: 'cluster', message: 'is missing', hint: "give what 'await connect()' gives" }],
  ['a cluster that is not awaited', { cluster: Promise.resolve(cluster()) }, { field: 'cluster', ...AWAIT }],
  [
    'a cluster without a client',
    { cluster: { ...cluster(), client: {} } },
    {
      field: 'cluster.client',
      message: 'an object is not a KubeClient',
      hint: 'it has the methods get, create, replace, patch, delete, watch',
    },
  ],
  ['a config that is not awaited', { config: checkConfig(DOCUMENT) }, { field: 'config', ...AWAIT }],
  [
    'the name of a config',
    { config: 'sluice.yaml' },
    { field: 'config', message: '"sluice.yaml" is not a config that was checked', hint: CHECKED },
  ],
  [
    'a config that was not checked',
    { config: DOCUMENT },
    { field: 'config', message: 'an object is not a config that was checked', hint: CHECKED },
  ],
  ['a mistyped option', { confg: DOCUMENT }, { field: 'confg', message: 'unknown key', hint: 'did you mean "config"?' }],
  [
    'how much is watched',
    { watch: 'all' },
    { field: 'watch', message: '"all" is none of namespace, request', hint: 'write namespace or request' },
  ],
  [
    'kinds',
    { kinds: [] },
    {
      field: 'kinds',
      message: 'an array is not a set of kinds',
      hint: "give 'createKinds([...KINDS.all, mine])', or leave it out",
    },
  ],
  ['an identity', { identity: 5 }, { field: 'identity', message: '5 is not a string', hint: 'give it as a string' }],
  [
    'a callback',
    { onWarning: 'log' },
    { field: 'onWarning', message: '"log" is not a function', hint: 'give a function, or leave it out' },
  ],
])('createSluice refuses %s', async (_what, options, issue) => {
  const own = options === undefined || Object.keys(options).length === 0 ? options : { cluster: cluster(), ...options }
  expect(await issuesOf(() => createSluice(own as SluiceOptions))).toEqual([issue])
})

test('a function that gives no checked config is refused by the call that needs it', async () => {
  const one = createSluice({
    cluster: cluster(),
    config: (async () => DOCUMENT) as unknown as SluiceOptions['config'] & object,
  })
  expect(await issuesOf(() => one.plan({ workload: 'sts/web' }))).toMatchObject([{ field: 'config', hint: CHECKED }])
})

test.each<[object, RequestIssue]>([
  [{ contxt: 'kind' }, { field: 'contxt', message: 'unknown key', hint: 'did you mean "context"?' }],
  [{ namespace: 5 }, { field: 'namespace', message: '5 is not a string', hint: 'give it as a string' }],
  [{ signal: 5 }, { field: 'signal', message: '5 is not an AbortSignal', hint: 'give the signal of an AbortController' }],
])('connect refuses %o', async (options, issue) => {
  expect(await issuesOf(() => connect(options))).toEqual([issue])
})

test('a config is loaded with adapters that are some, of a file that is named', async () => {
  const adapters = ['acme'] as unknown as AdapterDefinition[]
  const issue = {
    field: 'adapters[0]',
    message: '"acme" is no adapter',
    hint: 'give what defineAdapter gives, or an AdapterDefinition',
  }
  expect(await issuesOf(() => checkConfig(DOCUMENT, { adapters }))).toEqual([issue])
  expect(await issuesOf(() => loadConfig('sluice.yaml', { adapters }))).toEqual([issue])
  expect(await issuesOf(() => loadConfig(undefined as unknown as string))).toEqual([
    { field: 'file', message: 'is missing', hint: "give a path, such as 'sluice.yaml'" },
  ])
  expect(await issuesOf(() => checkConfig(DOCUMENT, { adapter: [] } as object))).toMatchObject([{ field: 'adapter' }])
  // Control.
  expect(await issuesOf(() => checkConfig(DOCUMENT, {}))).toBeUndefined()
})

test('a file that is not there is named as a program names it', async () => {
  await expect(loadConfig('/nowhere/sluice.yaml')).rejects.toThrow('there is no such file\n    give the path of a config file')
})

test('a signal ends the reading of a config, with its reason', async () => {
  const reason = new Error('no more')
  const signal = AbortSignal.abort(reason)
  await expect(loadConfig('/nowhere/sluice.yaml', { signal })).rejects.toBe(reason)
  await expect(checkConfig(DOCUMENT, { signal })).rejects.toBe(reason)
})

async function sluice(): Promise<Sluice> {
  return createSluice({ cluster: cluster(), config: await checkConfig(DOCUMENT) })
}

const REQUEST = { workload: 'sts/web', images: { app: 'registry.example/app:v2' } }
const PLAN: PlannedUpgrade = {
  request: REQUEST,
  holders: [],
  namespace: 'shop',
  workloads: [],
  images: [],
  templates: [],
  pods: [],
  window: 1,
  guarantees: [],
  warnings: [],
  refusals: [],
}

function without(field: keyof PlannedUpgrade): PlannedUpgrade {
  const { [field]: _, ...rest } = PLAN
  return rest as PlannedUpgrade
}

const GRACE = 'give whole milliseconds, from 0 to 2147483647'

/** A value of any type in the place of a typed one. */
const any = (value: unknown): never => value as never

test.each<[string, (one: Sluice) => unknown, object]>([
  [
    'a grace in words',
    (one) => one.upgrade(REQUEST, any({ graceMs: '60s' })).result,
    { field: 'graceMs', message: '"60s" is no duration', hint: GRACE },
  ],
  [
    'a grace that is no number',
    (one) => one.undo({ workload: 'sts/web' }, { graceMs: NaN }).result,
    { field: 'graceMs', message: 'NaN is no duration', hint: GRACE },
  ],
  [
    'a grace that is mistyped',
    (one) => one.upgrade(REQUEST, any({ grace: 1 })).plan,
    { field: 'grace', hint: 'did you mean "graceMs"?' },
  ],
  ['no options but null', (one) => one.upgrade(REQUEST, any(null)).result, { field: 'options', message: 'is null' }],
  [
    'no signal',
    (one) => one.upgrade(REQUEST, any({ signal: 5 })).result,
    { field: 'signal', message: '5 is not an AbortSignal' },
  ],
  [
    'no request',
    (one) => one.upgrade(any(undefined)).result,
    { field: 'request', message: 'is missing', hint: 'give an object' },
  ],
  ['no request of an undo', (one) => one.undo(any(undefined)).result, { field: 'request', message: 'is missing' }],
  ['a plan that is not awaited', (one) => one.upgrade(any(Promise.resolve(PLAN))).result, { field: 'request', ...AWAIT }],
  ['a plan to undo that is not awaited', (one) => one.undo(any(Promise.resolve(PLAN))).result, { field: 'request', ...AWAIT }],
  [
    'a plan without guarantees',
    (one) => one.upgrade(without('guarantees')).result,
    { field: 'plan.guarantees', message: 'is missing' },
  ],
  [
    'a plan without refusals',
    (one) => one.upgrade(without('refusals')).result,
    { field: 'plan.refusals', message: 'is missing' },
  ],
  ['a plan without pods', (one) => one.upgrade(without('pods')).result, { field: 'plan.pods', message: 'is missing' }],
  [
    'a plan without its request',
    (one) => one.upgrade(without('request')).result,
    { field: 'plan.request', message: 'is missing' },
  ],
  ['a plan of an undo without pods', (one) => one.undo(without('pods')).result, { field: 'plan.pods', message: 'is missing' }],
  ['a signal of a plan', (one) => one.plan(REQUEST, any({ signal: 5 })), { field: 'signal' }],
  ['a plan of nothing', (one) => one.plan(any(undefined)), { field: 'request', message: 'is missing', hint: 'give an object' }],
  [
    'an abort that waits in words',
    (one) => one.abort({ workload: 'sts/web' }, any({ wait: 'no' })),
    { field: 'wait', message: '"no" is not true or false' },
  ],
  ['a signal of a pause', (one) => one.pause({ workload: 'sts/web' }, any({ signal: 5 })), { field: 'signal' }],
  ['an object that is none to explain', (one) => one.explain({ object: 'web' }), { field: 'object' }],
  ['no object to explain', (one) => one.explain(any({})), { field: 'object' }],
  [
    'a workload in place of an object',
    (one) => one.explain(any({ object: 'sts/web', workload: 'sts/web' })),
    { field: 'workload' },
  ],
  [
    'a namespace of an explanation that cannot be',
    (one) => one.explain({ object: 'sts/web', namespace: 'A B' }),
    { field: 'namespace' },
  ],
  [
    'a callback of an explanation that is none',
    (one) => one.explain({ object: 'sts/web' }, any({ onWatching: 5 })),
    { field: 'onWatching' },
  ],
  ['a signal of a status', (one) => one.status({}, any({ signal: 5 })), { field: 'signal' }],
  ['no report', (one) => one.report(any(undefined)), { field: 'request', message: 'is missing' }],
  [
    'runs of a workload',
    (one) => one.runs(any({ workload: 'sts/web' })),
    { field: 'workload', message: 'unknown key', hint: 'known here: namespace' },
  ],
  [
    'a name in place of a list',
    (one) => one.plan(any({ ...REQUEST, retiredLoadBalancers: 'edge' })),
    { field: 'retiredLoadBalancers', message: '"edge" is not an array', hint: 'give an array, such as ["edge"]' },
  ],
  [
    'an empty window',
    (one) => one.plan(any({ ...REQUEST, settings: { maxUnavailable: {} } })),
    {
      field: 'settings.maxUnavailable',
      message: 'an object is neither a number of pods nor a share of them',
      hint: expect.stringContaining('such as "25%"'),
    },
  ],
  [
    'settings that do not go together',
    (one) => one.plan({ ...REQUEST, settings: { settleMs: 90_000 } }),
    { field: 'settings.settleMs', hint: expect.not.stringContaining('drain.') },
  ],
])('refuses %s', async (_what, act, issue) => {
  const one = await sluice()
  expect(await issuesOf(() => act(one))).toEqual([expect.objectContaining(issue)])
  await one.close()
})

test('interrupt throws at the call, and the run goes on', async () => {
  const one = await sluice()
  const run = one.upgrade(REQUEST)
  expect(() => run.interrupt(any('60s'))).toThrow(RequestError)
  expect(() => run.interrupt(NaN)).toThrow('graceMs: NaN is no duration')
  // The cluster refuses its first request, so this error shows that a request was sent.
  await expect(run.result).rejects.toThrow('was asked')
  await one.close()
})
