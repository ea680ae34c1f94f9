import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { normalizeImage, parseImageReference } from './image.ts'

const SHA = 'a'.repeat(64)

test.each([
  ['nginx', 'docker.io/library/nginx:latest'],
  ['nginx:1.27', 'docker.io/library/nginx:1.27'],
  ['team/app', 'docker.io/team/app:latest'],
  ['docker.io/nginx', 'docker.io/library/nginx:latest'],
  ['docker.io/team/app:v1', 'docker.io/team/app:v1'],
  ['index.docker.io/nginx:v1', 'docker.io/library/nginx:v1'],
  ['localhost/app:v1', 'localhost/app:v1'],
  ['localhost:5000/app', 'localhost:5000/app:latest'],
  ['registry:5000/app', 'registry:5000/app:latest'],
  ['registry:5000/app:v2', 'registry:5000/app:v2'],
  ['registry.example.com/a/b/c:v2', 'registry.example.com/a/b/c:v2'],
  ['[::1]:5000/app:v1', '[::1]:5000/app:v1'],
  ['Registry/app', 'Registry/app:latest'],
  [`app@sha256:${SHA}`, `docker.io/library/app@sha256:${SHA}`],
  [`registry:5000/app:v1@sha256:${SHA}`, `registry:5000/app@sha256:${SHA}`],
  [`app@sha512:${SHA}${SHA}`, `docker.io/library/app@sha512:${SHA}${SHA}`],
  ['a__b/c--d.e_f', 'docker.io/a__b/c--d.e_f:latest'],
])('%s is %s', (image, normal) => {
  expect(normalizeImage(image)).toBe(normal)
})

test.each([
  ['', 'it is empty'],
  ['not a valid ref!!', 'it contains white space'],
  ['app\n', 'it contains white space'],
  ['APP', '"APP" may hold lower-case letters, digits and single separators ("." "_" "-") only'],
  ['registry/App:v1', '"App" may hold lower-case letters, digits and single separators ("." "_" "-") only'],
  ['app:', '"" is no tag (letters, digits, "_", "." and "-", at most 128, none of "." and "-" first)'],
  ['app:-v1', '"-v1" is no tag (letters, digits, "_", "." and "-", at most 128, none of "." and "-" first)'],
  [`app:${'v'.repeat(129)}`, /is no tag/],
  ['app:v1:v2', /is no tag/],
  ['/app', 'a part of its name is empty'],
  ['registry//app', 'a part of its name is empty'],
  ['registry/', 'a part of its name is empty'],
  ['a..b', /single separators/],
  ['a___b', /single separators/],
  ['-registry.io/app', '"-registry.io" is no registry host'],
  ['registry:port/app', '"registry:port" is no registry host'],
  ['app@sha256:abc', 'a sha256 digest has 64 hexadecimal digits'],
  [`app@sha256:${'A'.repeat(64)}`, /is no digest/],
  [`app@md5:${'a'.repeat(32)}`, '"md5" is no digest algorithm (sha256, sha384, sha512)'],
  [`app@${SHA}`, /is no digest/],
  ['app@', /is no digest/],
  [SHA, /it is an image ID/],
  [`registry.io/${'a/'.repeat(130)}a`, 'its name is longer than 255 characters'],
])('%j is refused', (image, reason) => {
  const parsed = parseImageReference(image)
  expect(parsed.ok ? undefined : parsed.reason).toMatch(reason)
  expect(normalizeImage(image)).toBe(image)
})

test('tag and digest are both kept by the parser', () => {
  expect(parseImageReference(`registry:5000/app:v1@sha256:${SHA}`)).toEqual({
    ok: true,
    reference: { repository: 'registry:5000/app', tag: 'v1', digest: `sha256:${SHA}` },
  })
})

const part = fc.stringMatching(/^[a-z0-9]{1,6}(?:[._-][a-z0-9]{1,4})?$/)
const host = fc.constantFrom('', 'localhost/', 'registry:5000/', 'docker.io/', 'index.docker.io/', 'r.example.com/', 'UPPER/')
const tag = fc.option(fc.stringMatching(/^\w[\w.-]{0,8}$/), { nil: undefined })
const digest = fc.option(fc.constant(`sha256:${SHA}`), { nil: undefined })
const valid = fc
  .tuple(host, fc.array(part, { minLength: 1, maxLength: 3 }), tag, digest)
  .map(
    ([registry, parts, t, d]) =>
      `${registry}${parts.join('/')}${t === undefined ? '' : `:${t}`}${d === undefined ? '' : `@${d}`}`,
  )

test('what the grammar makes is read, and its normal form is its own normal form', () => {
  fc.assert(
    fc.property(valid, (image) => {
      const normal = normalizeImage(image)
      expect(parseImageReference(image).ok).toBe(true)
      expect(parseImageReference(normal).ok).toBe(true)
      expect(normalizeImage(normal)).toBe(normal)
      expect(normal).toMatch(/[:@]/)
    }),
  )
})

test('whatever it is given, normalising twice is normalising once', () => {
  const noise = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'aB0:/@.-_ []!') }))
  fc.assert(
    fc.property(noise, (text) => {
      expect(normalizeImage(normalizeImage(text))).toBe(normalizeImage(text))
    }),
  )
})
