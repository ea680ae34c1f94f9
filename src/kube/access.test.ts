import { describe, expect, test } from 'vitest'
import { type AccessCheck, checkAccess } from './access.ts'
import { KubeError } from './errors.ts'
import { createKubeClient } from './kube-client.ts'
import { createVirtualClock } from './testing/virtual-clock.ts'
import { TransportError, type TransportResponse } from './transport.ts'

const PATCH_POD: AccessCheck = { verb: 'patch', resource: 'pods', namespace: 'default' }
const PATCH_STATUS: AccessCheck = { ...PATCH_POD, subresource: 'status' }
const PATCH_WEB: AccessCheck = { verb: 'patch', group: 'apps', resource: 'statefulsets', namespace: 'default', name: 'web' }
const RENEW: AccessCheck = { verb: 'update', group: 'coordination.k8s.io', resource: 'leases', namespace: 'default' }
const CHECKS = [PATCH_POD, PATCH_WEB, RENEW]
const EVERYTHING = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }

interface Said {
  status?: number
  body: unknown
}

/** A server with this answer about the user's rules, and with the answers of `review` about single rights. */
function server({ rules, review }: { rules: Said; review?: (check: AccessCheck) => unknown }) {
  const asked: AccessCheck[] = []
  function answer(path: string, { spec }: { spec: { resourceAttributes: AccessCheck } }): Said {
    if (path.includes('selfsubjectrulesreviews')) return rules
    asked.push(spec.resourceAttributes)
    return { body: { status: review?.(spec.resourceAttributes) ?? { allowed: false } } }
  }
  const transport = {
    send({ path, body }: { path: string; body?: string }): Promise<TransportResponse> {
      const said = answer(path, JSON.parse(body ?? '') as { spec: { resourceAttributes: AccessCheck } })
      return Promise.resolve({ status: said.status ?? 201, headers: {}, text: JSON.stringify(said.body) })
    },
    stream: () => Promise.reject(new Error('nothing is watched here')),
    close: () => Promise.resolve(),
  }
  const clock = createVirtualClock()
  return { asked, client: createKubeClient({ transport, clock, random: { next: () => 0.5 } }) }
}

function rulesReview(resourceRules: object[], incomplete = false): Said {
  return { body: { status: { resourceRules, nonResourceRules: [], incomplete } } }
}

test('one who may do everything is asked for once', async () => {
  const { client, asked } = server({ rules: rulesReview([EVERYTHING]) })
  expect(await checkAccess(client, CHECKS)).toEqual({ denied: [] })
  expect(asked).toEqual([])
})

test('what the rules do not give is asked for by itself; what is denied comes in its order', async () => {
  const reasons: Record<string, object> = {
    pods: { allowed: false, reason: 'no role binding' },
    statefulsets: { allowed: true },
    leases: { allowed: false },
  }
  const { client, asked } = server({ rules: rulesReview([]), review: ({ resource }) => reasons[resource] })
  expect(await checkAccess(client, CHECKS)).toEqual({
    denied: [{ check: PATCH_POD, reason: 'no role binding' }, { check: RENEW }],
  })
  expect(asked).toEqual(CHECKS)
})

test.each<[string, Said]>([
  ['not all of them can be told', rulesReview([EVERYTHING], true)],
  ['the caller may not ask', { status: 403, body: { kind: 'Status', code: 403, message: 'forbidden' } }],
  ['the server does not know them', { status: 404, body: { kind: 'Status', code: 404, message: 'not found' } }],
  ['the answer says nothing', { body: { status: {} } }],
  ['a rule cannot be read', rulesReview([{ verbs: 'patch' }])],
])('no rule is relied on where %s', async (_why, rules) => {
  const { client, asked } = server({ rules })
  await checkAccess(client, CHECKS)
  expect(asked).toEqual(CHECKS)
})

test('a server that cannot be reached is asked no more', async () => {
  let requests = 0
  const send = () => {
    requests += 1
    return Promise.reject(new TransportError('connect ECONNREFUSED', { bytesLeft: false }))
  }
  const transport = { send, stream: send, close: () => Promise.resolve() }
  const client = createKubeClient({ transport, clock: createVirtualClock(), random: { next: () => 0.5 } })
  await expect(checkAccess(client, CHECKS)).rejects.toThrow('ECONNREFUSED')
  expect(requests).toBe(1)
})

test('an answer that says nothing is not taken for a yes', async () => {
  const { client } = server({ rules: rulesReview([]), review: () => ({}) })
  await expect(checkAccess(client, [PATCH_POD])).rejects.toMatchObject({ kind: 'ambiguous' })
})

/** Refuses the check of a single right with this message. */
function refusing(message: string): ReturnType<typeof checkAccess> {
  const { client } = server({ rules: rulesReview([]) })
  const create: typeof client.create = async (path, ...rest) => {
    if (path.includes('rulesreviews')) return client.create(path, ...rest)
    throw new KubeError(message, { kind: 'definite', method: 'POST', path, status: 403, reason: 'Forbidden' })
  }
  return checkAccess({ ...client, create }, CHECKS)
}

test('where the rights cannot be asked for, why is told with what the server says', async () => {
  const message = 'selfsubjectaccessreviews.authorization.k8s.io is forbidden: User "u" cannot create resource "x"'
  expect(await refusing(message)).toMatchObject({ denied: [], unasked: { message } })
})

test('control: whatever else it refuses is an error', async () => {
  const message = 'namespaces "shop" is forbidden: it is being terminated'
  await expect(refusing(message)).rejects.toThrow(message)
})

describe('a rule', () => {
  const RULE = { verbs: ['patch'], apiGroups: [''], resources: ['pods'] }

  test.each<[string, object, AccessCheck]>([
    ['names it', RULE, PATCH_POD],
    ['is for no object in particular', { ...RULE, resourceNames: [] }, PATCH_POD],
    [
      'names it among others',
      { ...RULE, verbs: ['get', 'patch'], apiGroups: ['apps', ''], resources: ['nodes', 'pods'] },
      PATCH_POD,
    ],
    ['is for every verb', { ...RULE, verbs: ['*'] }, PATCH_POD],
    ['is for every group', { ...RULE, apiGroups: ['*'] }, PATCH_POD],
    ['is for every resource, and their parts', { ...RULE, resources: ['*'] }, PATCH_STATUS],
    ['is for a part', { ...RULE, resources: ['pods/status'] }, PATCH_STATUS],
    ['is for this part of every resource', { ...RULE, resources: ['*/status'] }, PATCH_STATUS],
    ['is for this object', { ...RULE, apiGroups: ['apps'], resources: ['statefulsets'], resourceNames: ['web'] }, PATCH_WEB],
  ])('gives a right where it %s', async (_why, rule, check) => {
    const { client, asked } = server({ rules: rulesReview([rule]) })
    expect(await checkAccess(client, [check])).toEqual({ denied: [] })
    expect(asked).toEqual([])
  })

  test.each<[string, object, AccessCheck]>([
    ['is for another verb', { ...RULE, verbs: ['get'] }, PATCH_POD],
    ['is for another group', { ...RULE, apiGroups: ['apps'] }, PATCH_POD],
    ['is for the whole, not for its part', RULE, PATCH_STATUS],
    ['is for a part, not for the whole', { ...RULE, resources: ['pods/status', '*/status'] }, PATCH_POD],
    ['is for some objects', { ...RULE, resourceNames: ['web-0'] }, PATCH_POD],
    ['is for another object', { ...RULE, apiGroups: ['apps'], resources: ['statefulsets'], resourceNames: ['db'] }, PATCH_WEB],
    ['is for addresses', { verbs: ['*'], nonResourceURLs: ['*'] }, PATCH_POD],
  ])('gives none where it %s', async (_why, rule, check) => {
    const { client, asked } = server({ rules: rulesReview([rule]) })
    await checkAccess(client, [check])
    expect(asked).toEqual([check])
  })
})
