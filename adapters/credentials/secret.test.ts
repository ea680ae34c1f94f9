import { expect, test } from 'vitest'
import { looksSecret } from './secret.ts'

test.each([
  'Authorization',
  'authorisation',
  'x-auth',
  'X-Auth-Token',
  'oauth',
  'api_key',
  'apikey',
  'Set-Cookie',
  'userPassword',
])('what stands under %s is taken for a secret', (name) => expect(looksSecret(name)).toBe(true))

test.each(['author', 'authority', 'coauthors', 'key', 'monkey', 'session', 'state'])('%s is not', (name) =>
  expect(looksSecret(name)).toBe(false),
)
