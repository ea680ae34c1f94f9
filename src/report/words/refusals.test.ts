import { expect, test } from 'vitest'
import { wayOutOf } from './refusals.ts'

const UNDRAINABLE = {
  code: 'not-in-load-balancer',
  pod: 'web-1',
  because: { code: 'not-found', loadBalancer: 'edge', said: 'two servers have its address' },
} as const

// Found by trial: of two servers with its address the flag was offered, and the run with it refused in the same words.
test('without a drain goes only what has no entry', () => {
  expect(wayOutOf({ ...UNDRAINABLE, isThere: false }).hint).toContain('--allow-unbalanced')
  expect(wayOutOf({ ...UNDRAINABLE, isThere: true }).hint).not.toContain('--allow-unbalanced')
})
