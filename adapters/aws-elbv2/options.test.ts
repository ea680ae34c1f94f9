import { expect, test } from 'vitest'
import { elbv2Options } from './options.ts'

const ARN = 'arn:aws:elasticloadbalancing:eu-central-1:123456789012:targetgroup/web/0123456789abcdef'

test('the target groups are enough', () => {
  expect(elbv2Options.parse({ targetGroups: [ARN] })).toEqual({
    targetGroups: [ARN],
    deregistrationDelay: '300s',
    settle: '20s',
  })
  expect(elbv2Options.safeParse({ targetGroups: [ARN.replace('arn:aws:', 'arn:aws-cn:')] }).success).toBe(true)
})

test.each([
  [{}, 'targetGroups'],
  [{ targetGroups: [] }, 'is an empty list'],
  [{ targetGroups: [ARN, ARN] }, 'names a target group twice'],
  [{ targetGroups: [ARN, ARN.replace('eu-central-1', 'us-east-1')] }, 'has target groups of several regions'],
  [{ targetGroups: [ARN.replace('targetgroup', 'loadbalancer')] }, 'is no ARN of a target group'],
  [{ targetGroups: [ARN], deregistrationDelay: 300 }, 'deregistrationDelay'],
  [{ targetGroups: [ARN], roleArn: 'lb' }, 'is no ARN of a role'],
  [{ targetGroups: [ARN], externalId: 'x1' }, 'is of no use without roleArn'],
  [{ targetGroups: [ARN], endpoint: 'http://elb.example.com' }, 'is no https URL'],
  [{ targetGroups: [ARN], endpoint: 'https://user:secret@elb.example.com' }, 'is no https URL'],
  [{ targetGroups: [ARN], region: 'eu-central-1' }, 'region'],
])('%j is refused', (options, said) => {
  const checked = elbv2Options.safeParse(options)
  expect(JSON.stringify(checked.error?.issues)).toContain(said)
  expect(JSON.stringify(checked.error?.issues)).not.toContain('secret')
})
