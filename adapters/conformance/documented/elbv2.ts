/**
 * A target group of AWS Elastic Load Balancing, rebuilt from its documentation: registration, deregistration with its delay, health states,
 * zones, throttling, and stale reads. The model of the SDK validates each request. The code is not tested against the real product.
 */
import type { Pool, Server } from '../../../demo/load-balancer/pool.ts'
import { parseAddress } from '../../address.ts'
import { type ApiAnswer, type ApiRequest, type DocumentedProduct, setInPool } from './api.ts'
import { QueryError, queryAnswer, queryError, type QueryRequest, readQuery, type SdkModel } from './query-protocol.ts'

export const TARGET_GROUP = 'arn:aws:elasticloadbalancing:eu-central-1:123456789012:targetgroup/web/0123456789abcdef'
/** The access keys. AWS does not know any other key. */
export const READER_KEY = 'AKIAREADER'
export const OWNER_KEY = 'AKIAOWNER'
const NAMESPACE = 'http://elasticloadbalancing.amazonaws.com/doc/2015-12-01/'
const VERSION = '2015-12-01'
const SIGNED = /^AWS4-HMAC-SHA256 Credential=(\w+)\/\d{8}\/eu-central-1\/elasticloadbalancing\/aws4_request, /
const WRITES = new Set(['RegisterTargets', 'DeregisterTargets'])
const OUTSIDE_ZONE = 'all'
const INSIDE_ZONE = 'eu-central-1a'

export interface Elbv2Options {
  /** The time that a target is `draining`, in milliseconds. */
  deregistrationMs?: number
  /** The deregistration delay that the attribute shows, in seconds. */
  delaySeconds?: number
  /** The time that a target is `initial`, in milliseconds. */
  initialMs?: number
  /** The time after a change during which reads show the former state, in milliseconds. */
  staleMs?: number
  mostTargets?: number
  healthCheck?: { everySeconds: number; failures: number }
  /** More keys with permission to change something. */
  owners?: ReadonlySet<string>
}

interface Target {
  Id: string
  Port?: number
  AvailabilityZone?: string
}

interface Health {
  Target: Target
  HealthCheckPort: string
  TargetHealth: { State: string; Reason?: string; Description?: string }
}

interface Known {
  /** The zone. Absent: the target is not registered. */
  zone?: string
  healthyAt: number
  drainedAt: number
  changedAt: number
  before?: Health | undefined
}

export interface Elbv2 extends DocumentedProduct {
  /** The accepted requests in order. */
  requests(): QueryRequest[]
  /** Refuses this number of the next requests with a throttling error. */
  throttle(requests: number): void
  /** The changes in order, such as `web-0 deregistered`. A request that changes nothing adds none. */
  changes(): string[]
  /** The health state of the server, such as `draining`. */
  healthStateOf(server: Server): string
  zoneOf(server: Server): string | undefined
  setDelay(seconds: number): void
}

export function createElbv2(pool: Pool, model: SdkModel, options: Elbv2Options = {}): Elbv2 {
  const { deregistrationMs = 0, initialMs = 0, staleMs = 0, mostTargets = 1_000, owners = new Set([OWNER_KEY]) } = options
  let { delaySeconds = 300 } = options
  const { healthCheck = { everySeconds: 30, failures: 2 } } = options
  const taken: QueryRequest[] = []
  const changed: string[] = []
  let refusals = 0
  const now = (): number => performance.now()
  const known = new Map<Server, Known>(
    pool.servers().map((server, index) => {
      const zone = index === 0 ? OUTSIDE_ZONE : INSIDE_ZONE
      return [server, { zone, healthyAt: 0, drainedAt: 0, changedAt: -Infinity }]
    }),
  )
  /** The first server is outside of the VPC, so AWS cannot know its zone. */
  const isOutside = (server: Server): boolean => server === pool.servers()[0]

  function find({ Id, Port }: Target): Server | undefined {
    return pool.servers().find(({ address }) => address === `${Id}:${Port}`)
  }
  function healthOf(server: Server): Health {
    const { zone, healthyAt, drainedAt } = known.get(server)!
    const { address, port } = parseAddress(server.address)!
    const of = (State: string, Reason?: string): Health => ({
      Target: { Id: address, Port: port, ...(zone === undefined ? {} : { AvailabilityZone: zone }) },
      HealthCheckPort: String(port),
      TargetHealth: { State, ...(Reason === undefined ? {} : { Reason }) },
    })
    if (zone === undefined)
      return now() < drainedAt ? of('draining', 'Target.DeregistrationInProgress') : of('unused', 'Target.NotRegistered')
    if (now() < healthyAt) return of('initial', 'Elb.RegistrationInProgress')
    return server.healthy ? of('healthy') : of('unhealthy', 'Target.FailedHealthChecks')
  }
  function shown(server: Server): Health {
    const { changedAt, before } = known.get(server)!
    return before !== undefined && now() < changedAt + staleMs ? before : healthOf(server)
  }
  function put(server: Server, zone: string | undefined): void {
    const before = healthOf(server)
    const { zone: former } = known.get(server)!
    // The registration does not change, so its health and its delay do not start again.
    if (former === zone) return
    const at = now()
    const times = { healthyAt: at + initialMs, drainedAt: at + deregistrationMs, changedAt: at, before }
    known.set(server, { ...(zone === undefined ? {} : { zone }), ...times })
    changed.push(`${server.name} ${zone === undefined ? 'deregistered' : `registered in ${zone}`}`)
    setInPool(server, 'draining')
    if (zone === undefined) return
    const arrive = (): void => {
      if (known.get(server)?.changedAt === at) setInPool(server, 'in')
    }
    if (initialMs === 0) arrive()
    else setTimeout(arrive, initialMs).unref()
  }

  const refused = (status: number, code: string, message: string): ApiAnswer => {
    return { status, xml: queryError(code, message, NAMESPACE) }
  }
  function register(targets: readonly Target[]): ApiAnswer | undefined {
    for (const target of targets) {
      const server = find(target)
      const { TargetHealth } = server === undefined ? {} : healthOf(server)
      if (server === undefined || TargetHealth?.State === 'draining')
        return refused(400, 'InvalidTarget', `The IP address '${target.Id}' is not valid for the target group`)
      if (isOutside(server) && target.AvailabilityZone === undefined)
        return refused(400, 'ValidationError', `You must specify an Availability Zone for the IP address '${target.Id}'`)
    }
    const servers = targets.map((target) => find(target)!)
    const registered = new Set([...pool.servers().filter((one) => known.get(one)?.zone !== undefined), ...servers])
    if (registered.size > mostTargets) return refused(400, 'TooManyTargets', 'The number of targets is at its limit')
    targets.forEach(({ AvailabilityZone = INSIDE_ZONE }, index) => put(servers[index]!, AvailabilityZone))
    return undefined
  }
  function describe(targets: readonly Target[] | undefined): object {
    const healths =
      targets?.map((target): Health => {
        const server = find(target)
        if (server !== undefined) return shown(server)
        return { Target: target, HealthCheckPort: '', TargetHealth: { State: 'unused', Reason: 'Target.NotRegistered' } }
      }) ??
      pool
        .servers()
        .map(shown)
        .filter(({ TargetHealth: { Reason } }) => Reason !== 'Target.NotRegistered')
    return { TargetHealthDescriptions: healths }
  }
  function carryOut({ action, input }: QueryRequest): ApiAnswer {
    const done = (result: object): ApiAnswer => ({ status: 200, xml: queryAnswer(action, NAMESPACE, result) })
    const targets = input['Targets'] as Target[] | undefined
    if (action === 'DescribeTargetGroups')
      return done({
        TargetGroups: [
          {
            TargetGroupArn: TARGET_GROUP,
            HealthCheckEnabled: true,
            HealthCheckIntervalSeconds: healthCheck.everySeconds,
            UnhealthyThresholdCount: healthCheck.failures,
          },
        ],
      })
    if (input['TargetGroupArn'] !== TARGET_GROUP)
      return refused(400, 'TargetGroupNotFound', 'One or more target groups not found')
    switch (action) {
      case 'DescribeTargetHealth':
        return done(describe(targets))
      case 'DescribeTargetGroupAttributes':
        return done({ Attributes: [{ Key: 'deregistration_delay.timeout_seconds', Value: delaySeconds }] })
      case 'RegisterTargets':
        return register(targets ?? []) ?? done({})
      case 'DeregisterTargets':
        for (const server of (targets ?? []).map(find)) if (server !== undefined) put(server, undefined)
        return done({})
      default:
        return refused(400, 'InvalidAction', `${action} is not carried out here`)
    }
  }

  return {
    answer({ headers, text }: ApiRequest) {
      const key = SIGNED.exec(headers.authorization ?? '')?.[1]
      if (key === undefined || (key !== READER_KEY && !owners.has(key)))
        return refused(403, 'InvalidClientTokenId', 'The security token included in the request is invalid')
      if (refusals > 0) {
        refusals -= 1
        return refused(400, 'Throttling', 'Rate exceeded')
      }
      try {
        const request = readQuery(model, text, VERSION)
        taken.push(request)
        if (WRITES.has(request.action) && !owners.has(key))
          return refused(
            403,
            'AccessDenied',
            `User: arn:aws:iam::123456789012:user/reader is not authorized to perform: elasticloadbalancing:${request.action}`,
          )
        return carryOut(request)
      } catch (error) {
        if (!(error instanceof QueryError)) throw error
        return refused(400, 'ValidationError', error.message)
      }
    },
    stateOf: (server) => (known.get(server)?.zone === undefined ? 'draining' : 'in'),
    set: (server, state) => put(server, state === 'in' ? (isOutside(server) ? OUTSIDE_ZONE : INSIDE_ZONE) : undefined),
    // A load balancer of AWS has no restart, and a registration stays.
    restart() {},
    requests: () => taken,
    throttle(requests) {
      refusals = requests
    },
    changes: () => changed,
    healthStateOf: (server) => healthOf(server).TargetHealth.State,
    zoneOf: (server) => known.get(server)?.zone,
    setDelay(seconds) {
      delaySeconds = seconds
    },
  }
}
