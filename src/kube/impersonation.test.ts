import { expect, test } from 'vitest'
import { impersonationHeaders } from './impersonation.ts'

// A header with such a value is not sent at all, or arrives without its blanks, as another user or none.
test.each([
  { user: 'x\ny' },
  { user: 'x', groups: ['ok', 'a\tb'] },
  { user: 'x', uid: '\u007f' },
  { user: ' ' },
  { user: 'ann ' },
  { user: 'x', groups: [' ops'] },
])('what no header can carry is refused by its value: %j', (who) => {
  expect(() => impersonationHeaders(who)).toThrow(/ cannot be impersonated: .*correct the user/)
})

test('control: any other text goes out as UTF-8', () => {
  const { 'Impersonate-User': sent } = impersonationHeaders({ user: 'jörg ✓' })
  expect(Buffer.from(sent as string, 'latin1').toString()).toBe('jörg ✓')
})
