/** Makes entries from the targets of a target group. */
import { isIP } from 'node:net'
import type { TargetDescription, TargetGroup, TargetHealthDescription } from '@aws-sdk/client-elastic-load-balancing-v2'
import { formatAddress } from '../address.ts'
import type { Address, HealthCheck, Json } from '../contract.ts'
import type { Entry } from '../define-adapter.ts'

const ARN = /^arn:aws[\w-]*:elasticloadbalancing:([a-z0-9-]+):\d{12}:targetgroup\/([\w-]+)\/[0-9a-f]+$/

/** The region of the target group. Undefined if the text is not the ARN of a target group. */
export function regionOf(arn: string): string | undefined {
  return ARN.exec(arn)?.[1]
}

/** The name of a target. It includes the target group, because a pod may be in several target groups. */
export function targetName(arn: string, target: Address): string {
  return `${ARN.exec(arn)?.[2]}/${formatAddress(target)}`
}

/** The parts of a registration besides address and port. */
interface Registration {
  /** An Availability Zone, or `all`. */
  zone: string | null
  quicServerId?: string
}

/** The error for a target group without pods as targets. */
export class NoPodsError extends Error {
  override readonly name = 'NoPodsError'
}

/** True if the target is registered: it gets requests now, or when it becomes healthy. */
export function isRegistered({ TargetHealth: { State, Reason } = {} }: TargetHealthDescription): boolean {
  return State !== 'draining' && Reason !== 'Target.NotRegistered'
}

/** The entry of a target that is registered, that is being deregistered, or that was requested and is not registered. */
export function entryOf(arn: string, health: TargetHealthDescription): Entry {
  const { Target, TargetHealth: { State, Reason, Description } = {} } = health
  const { Id = '', Port } = Target ?? {}
  if (isIP(Id) === 0 || Port === undefined)
    throw new NoPodsError(`its target ${Id} is no IP address: a target group of type ip is needed`)
  const at = { address: Id, port: Port }
  const name = targetName(arn, at)
  const isIn = isRegistered(health)
  const why = [Reason, Description].filter((word) => word !== undefined).join(': ')
  return {
    name,
    ...at,
    scope: arn,
    state: isIn ? 'in' : 'draining',
    // Without health checks, every registered target gets requests.
    routable: isIn && (State === 'healthy' || State === 'unavailable'),
    ...(State === 'draining' ? { emptying: true } : {}),
    prior: isIn ? registrationOf(Target!) : null,
    detail: `${name}: ${State ?? 'in no known state'}${why === '' ? '' : ` (${why})`}`,
  }
}

/** The health check of the group. Empty if the group has its health checks turned off. */
export function healthCheckOf(group: TargetGroup): HealthCheck[] {
  const { HealthCheckEnabled, HealthCheckIntervalSeconds, UnhealthyThresholdCount } = group
  if (HealthCheckEnabled === false || HealthCheckIntervalSeconds === undefined || UnhealthyThresholdCount === undefined) return []
  return [{ everyMs: HealthCheckIntervalSeconds * 1_000, failures: UnhealthyThresholdCount }]
}

function registrationOf({ AvailabilityZone, QuicServerId }: TargetDescription): Json {
  return { zone: AvailabilityZone ?? null, ...(QuicServerId === undefined ? {} : { quicServerId: QuicServerId }) }
}

/** The target for a registration, as it is or was registered. */
export function targetOf({ address, port }: Address, prior: Json | undefined): TargetDescription {
  const { zone, quicServerId } = { zone: null, ...(prior as unknown as Registration | null) }
  return {
    Id: address,
    Port: port,
    ...(zone === null ? {} : { AvailabilityZone: zone }),
    ...(quicServerId === undefined ? {} : { QuicServerId: quicServerId }),
  }
}
