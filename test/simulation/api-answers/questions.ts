import type { Ask, Body, Question } from './record.ts'

/* The requests of sluice, of its workloads' controllers and of kubectl to an API server. Most of them are refused. */

export const NAMESPACE = 'api-answers'
const CORE = `/api/v1/namespaces/${NAMESPACE}`
const PODS = `${CORE}/pods`
const MAPS = `${CORE}/configmaps`
const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases`
const APPS = `/apis/apps/v1/namespaces/${NAMESPACE}`

const JSON_PATCH = 'application/json-patch+json'
const MERGE_PATCH = 'application/merge-patch+json'
const STRATEGIC = 'application/strategic-merge-patch+json'

const get = (path: string): Question => ({ method: 'GET', path })
const post = (path: string, body: unknown): Question => ({ method: 'POST', path, body })
const put = (path: string, body: unknown): Question => ({ method: 'PUT', path, body })
const jsonPatch = (path: string, ...body: unknown[]): Question => ({ method: 'PATCH', path, type: JSON_PATCH, body })
const mergePatch = (path: string, body: unknown): Question => ({ method: 'PATCH', path, type: MERGE_PATCH, body })
const strategicPatch = (path: string, body: unknown): Question => ({ method: 'PATCH', path, type: STRATEGIC, body })
const remove = (path: string, body?: unknown): Question => ({ method: 'DELETE', path, ...(body === undefined ? {} : { body }) })

const test = (path: string, value: unknown) => ({ op: 'test', path, value })
const add = (path: string, value: unknown) => ({ op: 'add', path, value })
const replace = (path: string, value: unknown) => ({ op: 'replace', path, value })

/** The spec of a pod without a scheduler: only these requests write its status. */
const podSpec = { schedulerName: 'nobody', containers: [{ name: 'app', image: 'app:v1' }] }
const pod = (name: string, more: { metadata?: object; spec?: object } = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...more.metadata },
  spec: { ...podSpec, ...more.spec },
})
const configMap = (name: string, more: object = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...more })
const selector = { matchLabels: { app: 'web' } }
const template = { metadata: { labels: { app: 'web' } }, spec: podSpec }

const meta = ({ metadata: { name, generation, labels, annotations, deletionGracePeriodSeconds } }: Body) => ({
  name,
  generation,
  labels,
  annotations: annotations && Object.fromEntries(Object.entries(annotations).filter(([key]) => !key.startsWith('kube'))),
  deletionGracePeriodSeconds,
})
const podFacts = (body: Body) => ({
  ...meta(body),
  images: body.spec.containers.map(({ image }: Body) => image),
  phase: body.status.phase,
  conditions: body.status.conditions?.map(({ type, status }: Body) => `${type}=${status}`),
})
const mapFacts = (body: Body) => ({ ...meta(body), data: body.data })
const names = ({ metadata, items }: Body) => ({
  names: items.map((item: Body) => item.metadata.name),
  continues: metadata.continue !== undefined && metadata.continue !== '',
  remaining: metadata.remainingItemCount,
})

const escapedAsGo = (body: unknown): string =>
  JSON.stringify(body).replace(/[<>&\u2028\u2029]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Asks all questions. `forgetThePast` makes the API server forget the versions before it. */
export async function askAll(ask: Ask, forgetThePast: () => Promise<void>): Promise<void> {
  await paths(ask)
  await creation(ask)
  await guardedPatches(ask)
  await statusWrites(ask)
  await updates(ask)
  await otherPatches(ask)
  await dryRuns(ask)
  await workloads(ask)
  await leases(ask)
  await lists(ask)
  await watches(ask)
  await deletion(ask)
  await rights(ask)
  await thePast(ask, forgetThePast)
}

async function paths(ask: Ask): Promise<void> {
  await ask(
    'a namespace is created',
    post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }),
    ({ metadata, status }) => [metadata.name, status.phase],
  )
  await ask('an unknown resource of the core group', get('/api/v1/widgets'))
  await ask('an unknown group', get('/apis/example.org/v1/widgets'))
  await ask('an unknown resource of a known group', get(`${APPS}/widgets`))
  await ask('an unknown subresource', get(`${PODS}/web/size`))
  await ask('a pod that is not there', get(`${PODS}/missing`))
  await ask('a StatefulSet that is not there', get(`${APPS}/statefulsets/missing`))
  await ask('a method that a collection does not have', put(PODS, {}))
  await ask('a method that an object does not have', post(`${PODS}/web`, {}))
}

async function creation(ask: Ask): Promise<void> {
  await ask('a pod is created', post(PODS, pod('web', { metadata: { labels: { app: 'web' } } })), podFacts)
  await ask('a pod that exists is created', post(PODS, pod('web')))
  await ask('a ConfigMap is created', post(MAPS, configMap('settings', { data: { a: '1' } })), mapFacts)
  await ask('a ConfigMap that exists is created', post(MAPS, configMap('settings')))
  await ask('in a namespace that is not there', post('/api/v1/namespaces/nowhere/configmaps', configMap('settings')))
  await ask('in another namespace than the path', post(MAPS, configMap('x', { metadata: { name: 'x', namespace: 'default' } })))
  await ask('of another kind than the path', post(MAPS, pod('x')))
  await ask('of another version than the path', post(MAPS, { ...configMap('x'), apiVersion: 'v2' }))
  await ask('without a name', post(MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} }))
  await ask(
    'with a name to complete',
    post(MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'gen-' } }),
    ({ metadata }) => /^gen-[a-z0-9]{5}$/.test(metadata.name),
  )
  await ask('with a bad name', post(MAPS, configMap('Not_Valid')))
  await ask('with a bad label key', post(MAPS, configMap('x', { metadata: { name: 'x', labels: { 'a b': 'c' } } })))
  await ask('with a bad label value', post(MAPS, configMap('x', { metadata: { name: 'x', labels: { a: 'b c' } } })))
  await ask('with a bad data key', post(MAPS, configMap('x', { data: { 'a b': 'c' } })))
  await ask(
    'with annotations of more than 256 KiB',
    post(MAPS, configMap('x', { metadata: { name: 'x', annotations: { a: 'b'.repeat(262_144) } } })),
  )
  await ask('with a resourceVersion', post(MAPS, configMap('x', { metadata: { name: 'x', resourceVersion: '1' } })))
  await ask('a pod without containers', post(PODS, pod('x', { spec: { containers: [] } })))
  await ask('a pod with a container without an image', post(PODS, pod('x', { spec: { containers: [{ name: 'app' }] } })))
  await ask('bad JSON', post(MAPS, '{"kind":'))
  await ask('an empty body', post(MAPS, ''))
  await ask('a list as the body', post(MAPS, []))
  await ask('an unknown content type', { method: 'POST', path: MAPS, type: 'text/plain', body: '{}' })
  await ask('a body that is too large', post(MAPS, configMap('x', { data: { a: 'b'.repeat(3_300_000) } })))
}

async function guardedPatches(ask: Ask): Promise<void> {
  const web = `${PODS}/web`
  const { metadata } = await ask('the pod is read', get(web), podFacts)
  await ask(
    'a test that holds, with a new image',
    jsonPatch(
      web,
      test('/metadata/uid', metadata.uid),
      test('/spec/containers/0/name', 'app'),
      replace('/spec/containers/0/image', 'app:v2'),
    ),
    podFacts,
  )
  await ask(
    'a failed test of the uid',
    jsonPatch(web, test('/metadata/uid', 'another'), replace('/spec/containers/0/image', 'app:v3')),
  )
  await ask('a failed test of the generation', jsonPatch(web, test('/metadata/generation', 1), add('/metadata/labels/x', 'y')))
  await ask(
    'a test that holds of the generation',
    jsonPatch(web, test('/metadata/generation', 2), add('/metadata/labels/x', 'y')),
    podFacts,
  )
  await ask(
    'a test against null of a missing key',
    jsonPatch(web, test('/metadata/deletionTimestamp', null), add('/metadata/labels/x', 'z')),
    podFacts,
  )
  await ask(
    'a test against null of a key that is there',
    jsonPatch(web, test('/metadata/labels', null), add('/metadata/labels/x', 'a')),
  )
  await ask('a test of a missing key against a value', jsonPatch(web, test('/metadata/labels/missing', 'a')))
  await ask('a key of a map that is missing', jsonPatch(web, add('/metadata/annotations/a', 'b')))
  await ask(
    'a test against null in a map that is missing',
    jsonPatch(web, test('/metadata/annotations/a', null), add('/metadata/labels/x', 'b')),
  )
  await ask(
    'the whole map where it is missing',
    jsonPatch(web, test('/metadata/annotations', null), add('/metadata/annotations', { 'example.org/a': 'b' })),
    podFacts,
  )
  await ask(
    'the whole map once more',
    jsonPatch(web, test('/metadata/annotations', null), add('/metadata/annotations', { 'example.org/a': 'c' })),
  )
  await ask(
    'an escaped key',
    jsonPatch(web, test('/metadata/annotations/example.org~1a', 'b'), add('/metadata/annotations/example.org~1a', 'c')),
    podFacts,
  )
  // A `test` compares with the sent text: the server holds its texts escaped as Go does.
  const odd = { '&': 'and', '<': 'less', '>': 'more', '\u2028': 'line', '\u2029': 'paragraph', 'é\b\f\u001b\u007f"\\': 'other' }
  const at = (called: string): string => `/metadata/annotations/odd-${called}`
  await ask('odd texts', jsonPatch(web, ...Object.entries(odd).map(([text, called]) => add(at(called), text))))
  for (const [text, called] of Object.entries(odd))
    await ask(`a test of an odd text: ${called}`, jsonPatch(web, test(at(called), text)))
  const all = jsonPatch(
    web,
    ...Object.entries(odd).flatMap(([text, called]) => [test(at(called), text), { op: 'remove', path: at(called) }]),
  )
  await ask('a test of odd texts, escaped as Go does it', { ...all, body: escapedAsGo(all.body) })
  await ask('a test of the status', jsonPatch(web, test('/status/phase', 'Pending'), add('/metadata/labels/x', 'c')), podFacts)
  await ask('a failed test of the status', jsonPatch(web, test('/status/phase', 'Running'), add('/metadata/labels/x', 'd')))
  await ask('a test below a status that is missing', jsonPatch(web, test('/status/containerStatuses/0/containerID', null)))
  await ask('a replaced key that is missing', jsonPatch(web, replace('/metadata/labels/missing', 'x')), podFacts)
  await ask('a removed key that was there', jsonPatch(web, { op: 'remove', path: '/metadata/labels/missing' }), podFacts)
  await ask('a removed key that is missing', jsonPatch(web, { op: 'remove', path: '/metadata/labels/missing' }), podFacts)
  await ask('a replaced key in a map that is missing', jsonPatch(web, replace('/metadata/missing/key', 'x')))
  await ask('a removed key in a map that is missing', jsonPatch(web, { op: 'remove', path: '/metadata/missing/key' }))
  await ask('a removed key', jsonPatch(web, { op: 'remove', path: '/metadata/labels/x' }), podFacts)
  await ask('an index that is out of bounds', jsonPatch(web, replace('/spec/containers/1/image', 'app:v3')))
  await ask('an unknown operation', jsonPatch(web, { op: 'set', path: '/metadata/labels/x', value: 'y' }))
  await ask('no operation', jsonPatch(web), podFacts)
  await ask('a JSON patch that is no list', { ...jsonPatch(web), body: { op: 'add' } })
  await ask('a JSON patch that is no JSON', { ...jsonPatch(web), body: '[' })
  await ask('a JSON patch without a body', { ...jsonPatch(web), body: '' })
  await ask('a JSON patch of a pod that is not there', jsonPatch(`${PODS}/missing`, test('/metadata/uid', 'x')))
  await ask('a patch of an unknown type', { ...jsonPatch(web), type: 'application/json' })
  await ask(
    'an image and a label in one',
    jsonPatch(web, replace('/spec/containers/0/image', 'app:v4'), add('/metadata/labels/revision', 'r2')),
    podFacts,
  )
  await ask('a field that a pod update may not change', jsonPatch(web, add('/spec/containers/0/command', ['sh'])))
  await ask('a container more', jsonPatch(web, add('/spec/containers/-', { name: 'more', image: 'more:v1' })))
  await ask('an image that is empty', jsonPatch(web, replace('/spec/containers/0/image', '')))
  await ask('a label value that is not valid', jsonPatch(web, add('/metadata/labels/x', 'a b')))
  await ask('an annotation that is too large', jsonPatch(web, add('/metadata/annotations/big', 'x'.repeat(262_144))))
  await ask('the uid', jsonPatch(web, replace('/metadata/uid', '00000000-0000-4000-8000-000000000000')))
  await ask('the name', jsonPatch(web, replace('/metadata/name', 'other')))
  await ask('a status through the object itself', jsonPatch(web, replace('/status/phase', 'Running')), podFacts)
}

async function statusWrites(ask: Ask): Promise<void> {
  const status = `${PODS}/web/status`
  await ask(
    'a status patch',
    mergePatch(status, { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] } }),
    podFacts,
  )
  await ask(
    'a status patch by a list of conditions',
    strategicPatch(status, {
      status: {
        conditions: [
          { type: 'ContainersReady', status: 'True' },
          { type: 'Ready', status: 'True' },
        ],
      },
    }),
    podFacts,
  )
  await ask(
    'a status patch that also has labels',
    mergePatch(status, { metadata: { labels: { written: 'by-status' } }, status: { message: 'x' } }),
    podFacts,
  )
  await ask(
    'a status patch that also has an image',
    mergePatch(status, { spec: { containers: [{ name: 'app', image: 'app:v9' }] }, status: { message: 'y' } }),
    podFacts,
  )
  await ask(
    'a status patch with a test of the object',
    jsonPatch(status, test('/metadata/name', 'web'), test('/spec/containers/0/image', 'app:v4'), add('/status/message', 'z')),
    podFacts,
  )
  await ask(
    'a status patch with a failed test',
    jsonPatch(status, test('/spec/containers/0/image', 'app:v9'), add('/status/message', 'z')),
  )
  await ask('the status is read', get(status), podFacts)
  const note = (message: string) => ({
    type: 'example.org/note',
    status: 'False',
    reason: 'Noted',
    message,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  })
  const notes = ({ metadata, status: { conditions } }: Body) => ({
    annotations: metadata.annotations,
    conditions: conditions.map(({ type, message }: Body) => [type, message]),
  })
  await ask(
    'a condition before the others',
    jsonPatch(status, test('/status/conditions/0/type', 'ContainersReady'), add('/status/conditions/0', note('a'))),
    notes,
  )
  await ask(
    'a condition before another that is no longer the first',
    jsonPatch(status, test('/status/conditions/0/type', 'ContainersReady'), add('/status/conditions/0', note('b'))),
  )
  await ask(
    'a condition in place of its former self',
    jsonPatch(status, test('/status/conditions/0/message', 'a'), replace('/status/conditions/0', note('b'.repeat(40_000)))),
    (body) => notes(body).conditions.map(([type, message]: Body) => [type, message?.length]),
  )
  await ask(
    'a condition, and an annotation that goes',
    jsonPatch(status, { op: 'remove', path: '/metadata/annotations/example.org~1a' }, replace('/status/conditions/0', note('c'))),
    notes,
  )
  await ask(
    'a condition, and an annotation that comes',
    jsonPatch(
      status,
      test('/metadata/annotations', null),
      add('/metadata/annotations', { 'example.org/a': 'c' }),
      replace('/status/conditions/0', note('d')),
    ),
    notes,
  )
  await ask('a dry run of a condition', jsonPatch(`${status}?dryRun=All`, replace('/status/conditions/0', note('e'))), notes)
  await ask(
    'a condition by its type, as a kubelet writes it',
    strategicPatch(status, {
      status: {
        '$setElementOrder/conditions': [{ type: 'Ready' }, { type: 'ContainersReady' }],
        conditions: [{ type: 'Ready', status: 'False' }],
      },
    }),
    podFacts,
  )
  await ask(
    'a condition goes by its type',
    strategicPatch(status, { status: { conditions: [{ type: 'example.org/note', $patch: 'delete' }] } }),
    podFacts,
  )
  await ask(
    'a status with another uid',
    mergePatch(status, { metadata: { uid: '00000000-0000-4000-8000-000000000000' }, status: { message: 'x' } }),
  )
  await ask(
    'a status with owners',
    mergePatch(status, { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'settings', uid: 'x' }] } }),
    ({ metadata }) => metadata.ownerReferences,
  )
  await ask('a status with a stale version', mergePatch(status, { metadata: { resourceVersion: '1' }, status: { message: 'x' } }))
  await ask('a status of a kind that has none', mergePatch(`${MAPS}/settings/status`, { status: {} }))
}

async function updates(ask: Ask): Promise<void> {
  const path = `${MAPS}/settings`
  const map = await ask('a ConfigMap is read', get(path), mapFacts)
  await ask('a PUT', put(path, { ...map, data: { a: '2' } }), mapFacts)
  await ask('a PUT with a stale version', put(path, { ...map, data: { a: '3' } }))
  await ask('a PUT without a version', put(path, configMap('settings', { data: { a: '4' } })), mapFacts)
  await ask(
    'a PUT with another uid',
    put(path, configMap('settings', { metadata: { name: 'settings', uid: '00000000-0000-4000-8000-000000000000' } })),
  )
  await ask('a PUT with another name', put(path, configMap('other')))
  await ask(
    'a PUT in another namespace',
    put(path, configMap('settings', { metadata: { name: 'settings', namespace: 'default' } })),
  )
  await ask('a PUT to what is not there', put(`${MAPS}/missing`, configMap('missing')))
  await ask(
    'a PUT of a pod with another image',
    put(`${PODS}/web`, pod('web', { spec: { containers: [{ name: 'app', image: 'app:v5' }] } })),
  )
}

async function otherPatches(ask: Ask): Promise<void> {
  const path = `${MAPS}/settings`
  const { metadata } = await ask('a merge patch', mergePatch(path, { data: { b: '5', a: null } }), mapFacts)
  await ask('a merge patch with a stale version', mergePatch(path, { metadata: { resourceVersion: '1' }, data: { b: '6' } }))
  await ask(
    'a merge patch with the right version',
    mergePatch(path, { metadata: { resourceVersion: metadata.resourceVersion }, data: { b: '7' } }),
    mapFacts,
  )
  await ask('a merge patch with another uid', mergePatch(path, { metadata: { uid: '00000000-0000-4000-8000-000000000000' } }))
  await ask('a JSON patch with a stale version', jsonPatch(path, replace('/metadata/resourceVersion', '1')))
  await ask('a JSON patch that tests a stale version', jsonPatch(path, test('/metadata/resourceVersion', '1')))
  await ask('a merge patch that is a list', mergePatch(path, []))
  await ask(
    'a merge patch of a pod by containers',
    mergePatch(`${PODS}/web`, { spec: { containers: [{ name: 'app', image: 'app:v6' }] } }),
  )
  await ask(
    'a strategic merge patch of a pod by container',
    strategicPatch(`${PODS}/web`, { spec: { containers: [{ name: 'app', image: 'app:v6' }] } }),
    podFacts,
  )
  await ask(
    'an annotation is removed',
    mergePatch(`${PODS}/web`, { metadata: { annotations: { 'example.org/a': null } } }),
    podFacts,
  )
}

async function dryRuns(ask: Ask): Promise<void> {
  const web = `${PODS}/web`
  await ask(
    'a dry run of a patch',
    jsonPatch(`${web}?dryRun=All&fieldManager=test`, replace('/spec/containers/0/image', 'app:dry')),
    podFacts,
  )
  await ask('after the dry run', get(web), podFacts)
  await ask('a dry run of a patch that is refused', jsonPatch(`${web}?dryRun=All`, add('/spec/containers/0/command', ['sh'])))
  await ask('a dry run with a failed test', jsonPatch(`${web}?dryRun=All`, test('/metadata/uid', 'x')))
  await ask('a dry run of a creation', post(`${MAPS}?dryRun=All`, configMap('dry')), mapFacts)
  await ask('what the dry run would have created', get(`${MAPS}/dry`))
  await ask('a dry run of a deletion', remove(`${MAPS}/settings?dryRun=All`))
  await ask('a dry run that is no dry run', post(`${MAPS}?dryRun=Some`, configMap('dry')))
}

async function workloads(ask: Ask): Promise<void> {
  const sets = `${APPS}/statefulsets`
  const body = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'web' },
    spec: { replicas: 0, serviceName: 'web', selector, template },
  }
  const facts = (set: Body) => ({
    generation: set.metadata.generation,
    replicas: set.spec.replicas,
    strategy: set.spec.updateStrategy,
    history: set.spec.revisionHistoryLimit,
    images: set.spec.template.spec.containers.map(({ image }: Body) => image),
  })
  const set = `${sets}/web`
  await ask('a StatefulSet is created', post(sets, body), facts)
  await ask('a StatefulSet that exists is created', post(sets, body))
  await ask(
    'a StatefulSet gets OnDelete',
    mergePatch(set, { spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } } }),
    facts,
  )
  await ask(
    'a StatefulSet gets an image',
    jsonPatch(set, test('/spec/updateStrategy/type', 'OnDelete'), replace('/spec/template/spec/containers/0/image', 'app:v2')),
    facts,
  )
  await ask('a StatefulSet gets a label', mergePatch(set, { metadata: { labels: { a: 'b' } } }), facts)
  await ask('a field that a StatefulSet may not change', mergePatch(set, { spec: { serviceName: 'other' } }))
  await ask('a StatefulSet with an image that is empty', jsonPatch(set, replace('/spec/template/spec/containers/0/image', '')))
  await ask('a StatefulSet with a failed test', jsonPatch(set, test('/spec/updateStrategy/type', 'RollingUpdate')))
  await ask(
    'a StatefulSet with a selector that does not match',
    post(sets, { ...body, metadata: { name: 'odd' }, spec: { ...body.spec, selector: { matchLabels: { app: 'other' } } } }),
  )

  const deployments = `${APPS}/deployments`
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: { replicas: 0, paused: true, selector, template },
  }
  const generation = ({ metadata }: Body) => metadata.generation
  await ask('a Deployment is created', post(deployments, deployment), ({ metadata, spec }) => ({
    generation: metadata.generation,
    strategy: spec.strategy,
  }))
  await ask(
    'a Deployment gets an annotation',
    mergePatch(`${deployments}/web`, { metadata: { annotations: { a: 'b' } } }),
    generation,
  )
  await ask('a Deployment gets a label', mergePatch(`${deployments}/web`, { metadata: { labels: { a: 'b' } } }), generation)
  await ask(
    'a Deployment gets another selector',
    mergePatch(`${deployments}/web`, {
      spec: { selector: { matchLabels: { app: 'web', x: 'y' } }, template: { metadata: { labels: { x: 'y' } } } },
    }),
  )
}

async function leases(ask: Ask): Promise<void> {
  const lease = (holder: string, metadata: object = {}) => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'web', ...metadata },
    spec: { holderIdentity: holder, leaseTransitions: 1 },
  })
  const holder = ({ metadata, spec }: Body) => ({ generation: metadata.generation, holder: spec.holderIdentity })
  const path = `${LEASES}/web`
  const { metadata } = await ask('a Lease is created', post(LEASES, lease('one')), holder)
  await ask('a Lease that exists is created', post(LEASES, lease('two')))
  await ask('a Lease is taken', put(path, lease('two', { resourceVersion: metadata.resourceVersion })), holder)
  await ask('a Lease is taken with a stale version', put(path, lease('three', { resourceVersion: metadata.resourceVersion })))
  await ask('a Lease is taken without a version', put(path, lease('three')))
  await ask(
    'a Lease that is missing is written with a uid',
    put(`${LEASES}/other`, lease('one', { name: 'other', uid: metadata.uid, resourceVersion: metadata.resourceVersion })),
  )
  await ask(
    'a Lease that is missing is written with a version',
    put(`${LEASES}/other`, lease('one', { name: 'other', resourceVersion: metadata.resourceVersion })),
  )
  await ask('a Lease that is missing is written', put(`${LEASES}/other`, lease('one', { name: 'other' })), holder)
  await ask('a Lease is patched', mergePatch(path, { spec: { holderIdentity: 'four' } }), holder)
}

async function lists(ask: Ask): Promise<void> {
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    await ask(
      `list: ${name} is created`,
      post(MAPS, configMap(`page-${name}`, { metadata: { name: `page-${name}`, labels: { page: 'yes', letter: name } } })),
    )
  }
  const pages = `${MAPS}?labelSelector=page%3Dyes`
  await ask('a list', get(pages), names)
  const first = await ask('a first page', get(`${pages}&limit=2`), names)
  await ask('list: one is deleted', remove(`${MAPS}/page-d`))
  const second = await ask(
    'the next page is of the same version',
    get(`${pages}&limit=2&continue=${first.metadata.continue}`),
    names,
  )
  await ask('the last page', get(`${pages}&limit=2&continue=${second.metadata.continue}`), names)
  await ask('a new list', get(pages), names)
  await ask('a page of all', get(`${LEASES}?limit=1`), names)
  await ask('a page with a token that is none', get(`${pages}&limit=2&continue=nonsense`))
  await ask('a list of an empty namespace', get('/api/v1/namespaces/nowhere/configmaps'), names)
  for (const [name, text] of Object.entries({
    equal: 'letter=a',
    'equal, twice': 'letter==a',
    'not equal': 'page=yes,letter!=a',
    in: 'letter in (a,b)',
    'not in': 'page=yes,letter notin (a, b)',
    exists: 'letter',
    'does not exist': 'page,!letter',
  })) {
    await ask(`labels: ${name}`, get(`${MAPS}?labelSelector=${encodeURIComponent(text)}`), names)
  }
  await ask('labels: a selector that is none', { ...get(`${MAPS}?labelSelector=${encodeURIComponent('a=b=c')}`), ownWords: true })
  await ask('labels: another that is none', {
    ...get(`${MAPS}?labelSelector=${encodeURIComponent('letter in')}`),
    ownWords: true,
  })
  await ask('fields: name', get(`${MAPS}?fieldSelector=metadata.name%3Dpage-a`), names)
  await ask('fields: node', get(`${PODS}?fieldSelector=spec.nodeName%3Dnowhere`), names)
  await ask('fields: phase', get(`${PODS}?fieldSelector=status.phase!%3DFailed`), names)
  await ask('fields: one that cannot be selected by', get(`${PODS}?fieldSelector=spec.hostname%3Dx`))
  await ask('fields: one of another kind', get(`${MAPS}?fieldSelector=spec.nodeName%3Dx`))
  await ask('fields: a selector that is none', get(`${PODS}?fieldSelector=x`))
  await ask('a list of version 0', get(`${pages}&resourceVersion=0`), names)
  await ask('a list of a version that is none', get(`${pages}&resourceVersion=x`))
}

async function watches(ask: Ask): Promise<void> {
  const watch = (query: string): Question => get(`${MAPS}?watch=1&timeoutSeconds=1&${query}`)
  const listed = await ask('watch: the list before it', get(`${MAPS}?labelSelector=watched`), names)
  const from = `resourceVersion=${listed.metadata.resourceVersion}`
  const path = `${MAPS}/watched`
  await ask('watch: created outside', post(MAPS, configMap('watched')), mapFacts)
  await ask('watch: goes in', mergePatch(path, { metadata: { labels: { watched: 'yes' } } }), mapFacts)
  await ask('watch: changes inside', mergePatch(path, { data: { a: '1' } }), mapFacts)
  await ask('watch: nothing changes', mergePatch(path, { data: { a: '1' } }), mapFacts)
  await ask('watch: goes out', mergePatch(path, { metadata: { labels: { watched: 'no' } }, data: { a: '2' } }), mapFacts)
  await ask('watch: changes outside', mergePatch(path, { data: { a: '3' } }), mapFacts)
  await ask('watch: goes in again', mergePatch(path, { metadata: { labels: { watched: 'yes' } } }), mapFacts)
  await ask('watch: is deleted inside', remove(path))
  await ask('a watch with a selector', watch(`${from}&labelSelector=watched%3Dyes`), mapFacts)
  await ask('a watch by name', watch(`${from}&fieldSelector=metadata.name%3Dwatched`), mapFacts)
  await ask('a watch without a version begins with what there is', watch('labelSelector=letter%3Da'), mapFacts)
  await ask(
    'a watch that begins with what there is, and says where that ends',
    watch('labelSelector=letter%3Db&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'),
    ({ metadata }) => [metadata.name, metadata.annotations],
  )
  await ask('a watch from a version that is none', watch('resourceVersion=x'))
  await ask('a watch of a selector that is none', { ...watch(`labelSelector=${encodeURIComponent('a=b=c')}`), ownWords: true })
}

async function deletion(ask: Ask): Promise<void> {
  await ask(
    'a ConfigMap is deleted with another uid',
    remove(`${MAPS}/page-a`, { preconditions: { uid: '00000000-0000-4000-8000-000000000000' } }),
  )
  await ask('a ConfigMap is deleted with a stale version', remove(`${MAPS}/page-a`, { preconditions: { resourceVersion: '1' } }))
  await ask('a ConfigMap is deleted', remove(`${MAPS}/page-a`))
  await ask('a ConfigMap that is not there is deleted', remove(`${MAPS}/page-a`))
  await ask('a Lease is deleted', remove(`${LEASES}/web`))
  const web = await ask('the pod before its end', get(`${PODS}/web`), podFacts)
  await ask('a pod that is on no node is deleted', remove(`${PODS}/web`), podFacts)
  await ask('that pod is gone', get(`${PODS}/web`))
  await ask(
    'what a watch said of its end',
    get(`${PODS}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Dweb&resourceVersion=${web.metadata.resourceVersion}`),
    podFacts,
  )

  const bound = `${PODS}/bound`
  const { metadata } = await ask('the list before', get(PODS), names)
  await ask(
    'a pod on a node',
    post(PODS, pod('bound', { spec: { nodeName: 'api-answers', terminationGracePeriodSeconds: 7 } })),
    podFacts,
  )
  await ask('a pod on a node is deleted', remove(bound), podFacts)
  await ask('a pod that is being deleted', get(bound), podFacts)
  await ask('a pod that is being deleted is deleted again', remove(bound), podFacts)
  await ask(
    'a test of the deletion',
    jsonPatch(bound, test('/metadata/deletionTimestamp', null), add('/metadata/labels', { x: 'y' })),
  )
  await ask('a pod that is being deleted takes a label', mergePatch(bound, { metadata: { labels: { x: 'y' } } }), podFacts)
  await ask('its grace gets shorter', remove(bound, { gracePeriodSeconds: 3 }), podFacts)
  await ask('its grace does not get longer', remove(bound, { gracePeriodSeconds: 30 }), podFacts)
  await ask('it is deleted without grace', remove(bound, { gracePeriodSeconds: 0 }), podFacts)
  await ask('it is gone', get(bound))
  await ask(
    'what a watch said of it',
    get(`${PODS}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Dbound&resourceVersion=${metadata.resourceVersion}`),
    podFacts,
  )

  const held = `${MAPS}/held`
  await ask(
    'a ConfigMap with a finalizer',
    post(MAPS, configMap('held', { metadata: { name: 'held', finalizers: ['example.org/hold'] } })),
    mapFacts,
  )
  await ask('a ConfigMap with a finalizer is deleted', remove(held), mapFacts)
  await ask('it waits for its finalizer', get(held), mapFacts)
  await ask('its finalizer is removed', mergePatch(held, { metadata: { finalizers: null } }), mapFacts)
  await ask('then it is gone', get(held))
}

async function rights(ask: Ask): Promise<void> {
  const asNobody = (question: Question): Question => ({ ...question, withoutRights: true })
  await ask('without the right to list', asNobody(get(PODS)))
  await ask('without the right to list everywhere', asNobody(get('/api/v1/pods')))
  await ask('without the right to get', asNobody(get(`${APPS}/statefulsets/web`)))
  await ask('without the right to patch', asNobody(jsonPatch(`${PODS}/web`, test('/metadata/uid', 'x'))))
  await ask('without the right to patch the status', asNobody(mergePatch(`${PODS}/web/status`, {})))
  await ask('without the right to watch', asNobody(get(`${PODS}?watch=1`)))
  await ask('without the right to create', asNobody(post(LEASES, {})))
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { verb: 'patch', resource: 'pods', namespace: NAMESPACE } },
  }
  const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
  await ask('a review of a right', post(reviews, review), ({ status }) => status.allowed)
  await ask('a review of a right that is missing', asNobody(post(reviews, review)), ({ status }) => status.allowed)
  const rules = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', spec: { namespace: NAMESPACE } }
  await ask('all rights of one who has them all', post('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', rules), allRights)
}

/** Returns the rights to everything. A real server lists basic rights besides. */
function allRights({ status }: Body): unknown {
  const { resourceRules, nonResourceRules, incomplete } = status
  const ofAll = (rules: Body[] = []): Body[] => rules.filter(({ verbs }) => verbs.includes('*'))
  return { resourceRules: ofAll(resourceRules), nonResourceRules: ofAll(nonResourceRules), incomplete }
}

async function thePast(ask: Ask, forgetThePast: () => Promise<void>): Promise<void> {
  await forgetThePast()
  await ask('a watch from a version that is forgotten', get(`${MAPS}?watch=1&timeoutSeconds=1&resourceVersion=2`))
  const token = Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: 2, start: 'page-b\0' })).toString('base64url')
  const expired = await ask('a page of a version that is forgotten', get(`${MAPS}?limit=2&continue=${token}`))
  await ask('the rest by the token that came with it', get(`${MAPS}?limit=2&continue=${expired.metadata.continue}`), names)
  await ask('a list of a version that is forgotten', get(`${MAPS}?resourceVersion=2&resourceVersionMatch=Exact`))
}
