import { expect, test } from 'vitest'
import { serviceBody } from './access-records.ts'

test.each([
  [undefined, {}],
  [['IPv6'], { ipFamilies: ['IPv6'], ipFamilyPolicy: 'SingleStack' }],
  [['IPv4', 'IPv6'], { ipFamilyPolicy: 'PreferDualStack' }],
] as const)('a Service that is made from one with the families %j', (families, expected) => {
  const service = { ports: [{ port: 80 }], isHeadless: false, ...(families === undefined ? {} : { families }) }
  const { spec } = serviceBody('shop', 'web', service) as { spec: { ports: unknown } }
  const { ports: _, ...rest } = spec
  expect(rest).toEqual(expected)
})
