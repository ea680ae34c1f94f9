/* Tests that the model of the SDK validates requests. Each request has one fault. */
import * as sdk from '@aws-sdk/client-elastic-load-balancing-v2'
import { expect, test } from 'vitest'
import { readQuery } from './query-protocol.ts'

const RIGHT = 'Action=RegisterTargets&Version=1&TargetGroupArn=arn&Targets.member.1.Id=10.0.0.1&Targets.member.1.Port=80'

test('a request that the model allows is read', () => {
  expect(readQuery(sdk, `${RIGHT}&Targets.member.2.Id=10.0.0.2&Targets.member.2.AvailabilityZone=all`, '1')).toEqual({
    action: 'RegisterTargets',
    input: {
      TargetGroupArn: 'arn',
      Targets: [
        { Id: '10.0.0.1', Port: 80 },
        { Id: '10.0.0.2', AvailabilityZone: 'all' },
      ],
    },
  })
})

test.each([
  [RIGHT.replace('Version=1', 'Version=2'), 'the version is 2, not 1'],
  [RIGHT.replace('RegisterTargets', 'RegisterTarget'), 'there is no operation RegisterTarget'],
  [RIGHT.replace('&TargetGroupArn=arn', ''), 'RegisterTargetsInput lacks TargetGroupArn'],
  [RIGHT.replace('member.1.Id', 'member.1.IP'), 'TargetDescription lacks Id'],
  [RIGHT.replace('Port=80', 'Port=http'), 'Targets.member.1.Port is "http"'],
  [`${RIGHT}&Weight=3`, 'RegisterTargets has no Weight'],
  [`${RIGHT}&Targets.member.1.Zone=all`, 'RegisterTargets has no Targets.member.1.Zone'],
  [`${RIGHT}&Targets.member.3.Id=x`, 'RegisterTargets has no Targets.member.3.Id'],
])('%s is refused', (text, said) => {
  expect(() => readQuery(sdk, text, '1')).toThrow(said)
})
