/* Tests on a target group that is rebuilt from the documentation of AWS: deregistration, health, zones, and refusals. */
import * as sdk from '@aws-sdk/client-elastic-load-balancing-v2'
import { afterAll, afterEach, expect, test } from 'vitest'
import { createPool, type Server } from '../../demo/load-balancer/pool.ts'
import { type ApiAnswer, type ApiRequest, serveApi } from '../conformance/documented/api.ts'
import {
  createElbv2,
  type Elbv2,
  type Elbv2Options as ServerOptions,
  OWNER_KEY,
  READER_KEY,
  TARGET_GROUP,
} from '../conformance/documented/elbv2.ts'
import { drainOne, effectCall, eventually, inspectOne, resolveAll, restoreOne, snapshotOne } from '../conformance/steps.ts'
import type { Adapter, Endpoint, Target } from '../contract.ts'
import { awsElbv2 } from './index.ts'
import { writeProfiles } from './testing/credentials.ts'

const profiles = writeProfiles({ owner: OWNER_KEY, reader: READER_KEY })
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0)) await clean()
})
afterAll(() => profiles.remove())

const ENDPOINTS = Array.from({ length: 3 }, (_, index): Endpoint => {
  return { uid: `uid-${index}`, pod: `web-${index}`, address: `10.0.0.${index + 1}`, port: 8080 }
})

interface Bed {
  elbv2: Elbv2
  adapter: Adapter
  servers: readonly Server[]
  targets: Target[]
  /** The requests that change something, in order. */
  changes(): string[]
}

/** A hook that may answer before the target group does. */
type Before = (elbv2: Elbv2, request: ApiRequest) => ApiAnswer | undefined

async function bedOf(server: ServerOptions = {}, options: object = {}, before: Before = () => undefined): Promise<Bed> {
  const pool = createPool(ENDPOINTS.map(({ pod, address, port }) => ({ name: pod, address: `${address}:${port}` })))
  const elbv2 = createElbv2(pool, sdk, server)
  const api = await serveApi({ ...elbv2, answer: (request) => before(elbv2, request) ?? elbv2.answer(request) })
  const adapter = create({ endpoint: api.url, profile: 'owner', ...options })
  cleanups.push(() => {
    api.server.close()
    api.server.closeAllConnections()
  })
  const targets = await resolveAll(adapter, ENDPOINTS)
  const changes = (): string[] =>
    elbv2
      .requests()
      .filter(({ action }) => !action.startsWith('Describe'))
      .map(({ action, input }) => `${action} ${(input['Targets'] as unknown[]).length}`)
  return { elbv2, adapter, servers: pool.servers(), targets, changes }
}

function create(options: object): Adapter {
  const adapter = awsElbv2.create(awsElbv2.options.parse({ targetGroups: [TARGET_GROUP], ...options }), { name: 'edge' })
  cleanups.push(() => adapter.close())
  return adapter
}

test('a drained pod is not empty until its deregistration is over, and is registered as it was, not before', async () => {
  const { adapter, elbv2, servers, targets, changes } = await bedOf({ deregistrationMs: 400 })
  const [target] = targets as [Target]
  expect(target).toEqual({ id: 'web/10.0.0.1:8080@10.0.0.1:8080', scope: TARGET_GROUP })
  const { prior } = await snapshotOne(adapter, target)
  expect(prior).toEqual({ state: 'in', prior: { zone: 'all' } })
  expect(await drainOne(adapter, target)).toEqual({ outcome: 'applied' })
  expect(await inspectOne(adapter, target)).toEqual({
    admin: 'draining',
    routable: false,
    inFlight: null,
    isEmptying: true,
    detail: 'web/10.0.0.1:8080: draining (Target.DeregistrationInProgress)',
  })
  expect(await restoreOne(adapter, target, prior)).toMatchObject({
    outcome: 'failed',
    error: { kind: 'retryable', message: expect.stringContaining('once its deregistration is over') as string },
  })
  expect(changes()).toEqual(['DeregisterTargets 1'])
  await eventually(async () => !(await inspectOne(adapter, target)).isEmptying, 'the deregistration is over')
  expect(await inspectOne(adapter, target)).toMatchObject({
    admin: 'draining',
    detail: 'web/10.0.0.1:8080: unused (Target.NotRegistered)',
  })
  expect(elbv2.zoneOf(servers[0]!)).toBeUndefined()
  expect(await restoreOne(adapter, target, prior)).toEqual({ outcome: 'applied' })
  expect(elbv2.zoneOf(servers[0]!)).toBe('all')
  expect(changes()).toEqual(['DeregisterTargets 1', 'RegisterTargets 1'])
})

test('a pod that is put back gets no requests until it is healthy', async () => {
  const { adapter, targets } = await bedOf({ initialMs: 400 })
  const [target] = targets as [Target]
  const { prior } = await snapshotOne(adapter, target)
  await drainOne(adapter, target)
  expect(await restoreOne(adapter, target, prior)).toEqual({ outcome: 'applied' })
  expect(await inspectOne(adapter, target)).toMatchObject({
    admin: 'in',
    routable: false,
    detail: 'web/10.0.0.1:8080: initial (Elb.RegistrationInProgress)',
  })
  await eventually(async () => (await inspectOne(adapter, target)).routable, 'it is healthy')
})

test('a change is answered once the target group shows it, and is in doubt where that takes too long', async () => {
  const { adapter, targets } = await bedOf({ staleMs: 300 })
  const [target] = targets as [Target]
  expect(await drainOne(adapter, target)).toEqual({ outcome: 'applied' })
  expect((await inspectOne(adapter, target)).admin).toBe('draining')
  const slow = await bedOf({ staleMs: 60_000 })
  expect(await drainOne(slow.adapter, slow.targets[0]!)).toMatchObject({ outcome: 'failed', error: { kind: 'ambiguous' } })
}, 20_000)

test('many pods are one request, each with its own zone; one that is refused is no reason to leave the others out', async () => {
  const { adapter, elbv2, servers, targets, changes } = await bedOf({ mostTargets: 2 })
  const priors = await adapter.snapshot(targets, effectCall(targets))
  const all = targets.map((target) => ({ target, prior: priors.get(target.id)!.prior }))
  expect([...(await adapter.drain(targets, effectCall(targets))).values()]).toEqual(targets.map(() => ({ outcome: 'applied' })))
  expect(changes()).toEqual(['DeregisterTargets 3'])
  const results = await adapter.restore(all, effectCall(targets))
  expect(changes().slice(1)).toEqual(['RegisterTargets 3', ...targets.map(() => 'RegisterTargets 1')])
  expect(servers.map((server) => elbv2.zoneOf(server))).toEqual(['all', 'eu-central-1a', undefined])
  expect(targets.map(({ id }) => results.get(id)?.outcome)).toEqual(['applied', 'applied', 'failed'])
  expect(results.get(targets[2]!.id)).toMatchObject({ error: { kind: 'retryable' } })
})

test('a pod that an operator has deregistered is deregistered again by the restore', async () => {
  const { adapter, elbv2, servers, targets } = await bedOf()
  const [target] = targets as [Target]
  elbv2.set(servers[0]!, 'draining')
  const { prior, inRotation } = await snapshotOne(adapter, target)
  expect(inRotation).toBe(false)
  elbv2.set(servers[0]!, 'in')
  expect(await restoreOne(adapter, target, prior)).toEqual({ outcome: 'applied' })
  expect(elbv2.stateOf(servers[0]!)).toBe('draining')
})

test('throttling is told as that, for reads and changes', async () => {
  const { adapter, elbv2, targets, changes } = await bedOf({}, {}, (product, { text }) => {
    if (text.startsWith('Action=DeregisterTargets')) product.throttle(1)
    return undefined
  })
  elbv2.throttle(1)
  await expect(inspectOne(adapter, targets[0]!)).rejects.toMatchObject({ kind: 'throttled' })
  expect(await drainOne(adapter, targets[0]!)).toMatchObject({
    outcome: 'failed',
    error: { kind: 'throttled', message: expect.stringContaining('Rate exceeded') as string },
  })
  expect(changes()).toEqual([])
  expect((await inspectOne(adapter, targets[0]!)).admin).toBe('in')
})

test('rights that are missing, credentials and target groups that are not known are fatal', async () => {
  const { adapter, targets } = await bedOf({}, { profile: 'reader' })
  expect(await drainOne(adapter, targets[0]!)).toMatchObject({
    error: {
      kind: 'fatal',
      message: expect.stringContaining('allow elasticloadbalancing:DeregisterTargets on the target group') as string,
    },
  })
  const resolved = (options: object): Promise<unknown> => create(options).resolve(ENDPOINTS, effectCall([]))
  const { url: endpoint, server } = await serveApi(createElbv2(createPool([]), sdk, { owners: new Set() }))
  cleanups.push(() => server.close())
  await expect(resolved({ endpoint, profile: 'owner' })).rejects.toMatchObject({
    kind: 'fatal',
    message: expect.stringContaining('InvalidClientTokenId') as string,
  })
  const elsewhere = TARGET_GROUP.replace('/web/', '/gone/')
  await expect(resolved({ endpoint, profile: 'reader', targetGroups: [elsewhere] })).rejects.toMatchObject({
    kind: 'fatal',
    message: expect.stringContaining(`${elsewhere}: TargetGroupNotFound`) as string,
  })
  await expect(resolved({ endpoint, profile: 'none' })).rejects.toMatchObject({
    kind: 'retryable',
    message: expect.stringContaining('not sent') as string,
  })
})

test('a deregistration delay that grows amid a run refuses the next drain with what to write, and no restore', async () => {
  const { adapter, elbv2, servers, targets } = await bedOf({ delaySeconds: 30 }, { deregistrationDelay: '30s' })
  expect(adapter.capabilities).toMatchObject({ settleMs: 20_000, longestEmptyingMs: 180_000 })
  const { prior } = await snapshotOne(adapter, targets[0]!)
  expect(await drainOne(adapter, targets[0]!)).toEqual({ outcome: 'applied' })
  elbv2.setDelay(45)
  const { url: endpoint, server } = await serveApi(elbv2)
  cleanups.push(() => server.close())
  const next = create({ endpoint, profile: 'owner', deregistrationDelay: '30s' })
  expect(await drainOne(next, targets[1]!)).toMatchObject({
    outcome: 'failed',
    error: {
      kind: 'fatal',
      message: expect.stringContaining('is 45, and deregistrationDelay says 30s: make it 45s') as string,
    },
  })
  expect(elbv2.stateOf(servers[1]!)).toBe('in')
  expect((await inspectOne(next, targets[0]!)).admin).toBe('draining')
  expect(await restoreOne(next, targets[0]!, prior)).toEqual({ outcome: 'applied' })
  expect(elbv2.stateOf(servers[0]!)).toBe('in')
})

test('what is registered by instance is refused', async () => {
  const api = await serveApi({
    ...createElbv2(createPool([]), sdk),
    answer: ({ text }) => ({
      status: 200,
      xml: text.includes('Attributes')
        ? '<DescribeTargetGroupAttributesResponse><DescribeTargetGroupAttributesResult/></DescribeTargetGroupAttributesResponse>'
        : '<DescribeTargetHealthResponse><DescribeTargetHealthResult><TargetHealthDescriptions><member><Target><Id>i-0123</Id>' +
          '<Port>80</Port></Target></member></TargetHealthDescriptions></DescribeTargetHealthResult></DescribeTargetHealthResponse>',
    }),
  })
  cleanups.push(() => api.server.close())
  await expect(create({ endpoint: api.url, profile: 'owner' }).resolve(ENDPOINTS, effectCall([]))).rejects.toMatchObject({
    kind: 'fatal',
    message: expect.stringContaining('its target i-0123 is no IP address') as string,
  })
})

test('the role of another account is taken on by STS, and again when what it gave expires', async () => {
  const roles: URLSearchParams[] = []
  const owners = new Set<string>()
  const { url: sts, server } = await serveApi({
    ...createElbv2(createPool([]), sdk),
    answer({ text }) {
      roles.push(new URLSearchParams(text))
      const key = `ASIAROLE${roles.length}`
      owners.add(key)
      // The SDK renews credentials some minutes before they expire.
      const expiration = new Date(Date.now() + 1_000).toISOString()
      const credentials = `<AccessKeyId>${key}</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>${expiration}</Expiration>`
      return {
        status: 200,
        xml: `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>${credentials}</Credentials></AssumeRoleResult></AssumeRoleResponse>`,
      }
    },
  })
  process.env['AWS_ENDPOINT_URL_STS'] = sts
  cleanups.push(() => {
    delete process.env['AWS_ENDPOINT_URL_STS']
    server.close()
    server.closeAllConnections()
  })
  const role = { roleArn: 'arn:aws:iam::210987654321:role/lb', externalId: 'sluice-1' }
  const { adapter, targets } = await bedOf({ owners }, role)
  expect(await drainOne(adapter, targets[0]!)).toEqual({ outcome: 'applied' })
  expect(roles.length).toBeGreaterThan(1)
  expect(Object.fromEntries(roles[0]!)).toMatchObject({
    Action: 'AssumeRole',
    RoleArn: role.roleArn,
    ExternalId: 'sluice-1',
    RoleSessionName: 'sluice',
  })
})

test('an error of the server is no answer: a read is made again, and a change is in doubt', async () => {
  let isDown = false
  const { adapter, targets } = await bedOf({}, {}, (_, { text }) =>
    isDown || text.startsWith('Action=DeregisterTargets') ? { status: 503, xml: '' } : undefined,
  )
  expect(await drainOne(adapter, targets[0]!)).toMatchObject({ error: { kind: 'ambiguous' } })
  isDown = true
  await expect(inspectOne(adapter, targets[0]!)).rejects.toMatchObject({ kind: 'retryable' })
})

test('the health checks of its groups are those that AWS names', async () => {
  const { adapter } = await bedOf({ healthCheck: { everySeconds: 5, failures: 3 } })
  expect(await adapter.healthChecks!(effectCall([]))).toEqual([{ everyMs: 5_000, failures: 3 }])
})
