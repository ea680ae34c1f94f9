/* Tests on a server that is rebuilt from the documentation of the product and the model in the SDK, not on the real product. */
import * as sdk from '@aws-sdk/client-elastic-load-balancing-v2'
import { afterAll, describe, test } from 'vitest'
import { makeDocumentedBed } from '../conformance/beds/documented.ts'
import { describeAdapter } from '../conformance/conformance.ts'
import { createElbv2, OWNER_KEY, READER_KEY, TARGET_GROUP } from '../conformance/documented/elbv2.ts'
import type { Adapter } from '../contract.ts'
import { awsElbv2 } from './index.ts'
import { writeProfiles } from './testing/credentials.ts'

const profiles = writeProfiles({ owner: OWNER_KEY, reader: READER_KEY })
afterAll(() => profiles.remove())

function create(endpoint: string, profile: string): Adapter {
  const options = { targetGroups: [TARGET_GROUP], endpoint, profile, settle: '10ms' }
  return awsElbv2.create(awsElbv2.options.parse(options), { name: 'edge' })
}

describeAdapter({ describe, test }, 'aws-elbv2, as documented', ({ servers }) =>
  makeDocumentedBed({
    servers,
    product: (pool) => createElbv2(pool, sdk),
    create: (url) => create(url, 'owner'),
    createPowerless: (url) => create(url, 'reader'),
    // A pod is registered or not. There is no third state.
    hasNoMaint: true,
    isEffect: (bytes) => /Action=(Reg|Dereg)isterTargets&/.test(bytes),
  }),
)
