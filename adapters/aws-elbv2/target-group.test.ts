import type { TargetHealth } from '@aws-sdk/client-elastic-load-balancing-v2'
import { expect, test } from 'vitest'
import { entryOf, targetName, targetOf } from './target-group.ts'

const ARN = 'arn:aws:elasticloadbalancing:eu-central-1:123456789012:targetgroup/web/0123456789abcdef'
const TARGET = { Id: '10.0.0.1', Port: 8080, AvailabilityZone: 'all' }

test.each<[TargetHealth, state: 'in' | 'draining', routable: boolean, emptying?: true]>([
  [{ State: 'healthy' }, 'in', true],
  [{ State: 'initial', Reason: 'Elb.InitialHealthChecking' }, 'in', false],
  [{ State: 'unhealthy', Reason: 'Target.FailedHealthChecks' }, 'in', false],
  [{ State: 'unhealthy.draining', Reason: 'Target.FailedHealthChecks' }, 'in', false],
  [{ State: 'unavailable', Reason: 'Target.HealthCheckDisabled' }, 'in', true],
  [{ State: 'unused', Reason: 'Target.NotInUse' }, 'in', false],
  [{}, 'in', false],
  [{ State: 'draining', Reason: 'Target.DeregistrationInProgress' }, 'draining', false, true],
  [{ State: 'unused', Reason: 'Target.NotRegistered' }, 'draining', false],
  [{ State: 'unavailable', Reason: 'Target.NotRegistered' }, 'draining', false],
])('a target whose health is %j', (TargetHealth, state, routable, emptying) => {
  const entry = entryOf(ARN, { Target: TARGET, TargetHealth })
  expect(entry).toMatchObject({ name: 'web/10.0.0.1:8080', address: '10.0.0.1', port: 8080, scope: ARN, state, routable })
  expect(entry.emptying).toBe(emptying)
  // The prior state of an unregistered target has no zone, because equal states must be equal JSON.
  expect(entry.prior).toEqual(state === 'in' ? { zone: 'all' } : null)
})

test('a target is registered with all that it had', () => {
  const health = { Target: { ...TARGET, AvailabilityZone: 'eu-central-1a', QuicServerId: '0x0000000000000001' } }
  const { prior, ...at } = entryOf(ARN, health)
  expect(targetOf(at, prior)).toEqual(health.Target)
  expect(targetOf(at, { zone: null })).toEqual({ Id: '10.0.0.1', Port: 8080 })
  expect(targetOf(at, null)).toEqual({ Id: '10.0.0.1', Port: 8080 })
})

test('the name of a target has its group, and an address of IPv6 is one', () => {
  expect(targetName(ARN, { address: 'fd00::1', port: 80 })).toBe('web/[fd00::1]:80')
  expect(entryOf(ARN, { Target: { Id: 'fd00::1', Port: 80 } })).toMatchObject({ address: 'fd00::1', port: 80 })
})
