import { expect, test } from 'vitest'
import { wayOutOf } from './refusals.ts'

const UNDRAINABLE = {
  code: 'not-in-load-balancer',
  pod: 'web-1',
  because: { code: 'not-found', loadBalancer: 'edge', said: 'two servers have its address' },
} as const

// The flag is no way out for a pod with an entry: a run with the flag would be refused too.
test('without a drain goes only what has no entry', () => {
  expect(wayOutOf({ ...UNDRAINABLE, isThere: false }).hint).toContain('--allow-unbalanced')
  expect(wayOutOf({ ...UNDRAINABLE, isThere: true }).hint).not.toContain('--allow-unbalanced')
})
