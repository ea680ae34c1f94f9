import { z } from 'zod'
import { show } from '../../src/config/show.ts'
import { duration } from '../option-fields.ts'
import { regionOf } from './target-group.ts'

const roleArn = /^arn:aws[\w-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/

const targetGroups = z
  .array(
    z.string().refine((text) => regionOf(text) !== undefined, {
      error: ({ input }) =>
        `${show(input)} is no ARN of a target group\nwrite it as arn:aws:elasticloadbalancing:REGION:ACCOUNT:targetgroup/NAME/ID`,
    }),
  )
  .min(1, 'is an empty list\nname the target groups that have the pods')
  .refine((arns) => new Set(arns).size === arns.length, 'names a target group twice\nname each once')
  .refine(
    (arns) => new Set(arns.map(regionOf)).size < 2,
    'has target groups of several regions\nmake a load balancer of those of each region',
  )

export const elbv2Options = z
  .strictObject({
    targetGroups: targetGroups.describe('The ARNs of the target groups that have the pods, of target type ip and of one region.'),
    deregistrationDelay: duration
      .describe('The longest deregistration delay that one of the target groups has. Default 300s, as in AWS.')
      .prefault('300s'),
    settle: duration
      .describe('How long new requests may arrive after a deregistration has been accepted. Default 20s.')
      .prefault('20s'),
    profile: z
      .string()
      .min(1)
      .describe('A profile of the AWS config files. Default: as every AWS SDK finds credentials.')
      .optional(),
    roleArn: z
      .string()
      .regex(roleArn, { error: ({ input }) => `${show(input)} is no ARN of a role\nwrite it as arn:aws:iam::ACCOUNT:role/NAME` })
      .describe('A role to take on, such as one of another account.')
      .optional(),
    externalId: z.string().min(2).describe('What the trust policy of the role asks for as sts:ExternalId.').optional(),
    endpoint: z
      .string()
      .refine((text) => isEndpoint(text), 'is no https URL, and no http URL of this host\nwrite it as https://HOST')
      .describe('Where the API is, such as a VPC endpoint. Default: that of the region.')
      .optional(),
  })
  .refine(({ roleArn: role, externalId }) => externalId === undefined || role !== undefined, {
    path: ['externalId'],
    message: 'is of no use without roleArn\nname the role, or remove it',
  })

export type Elbv2Options = z.infer<typeof elbv2Options>

function isEndpoint(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || url.username !== '' || url.password !== '') return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname))
}
