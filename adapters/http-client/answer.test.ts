import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { parseJson, statusError } from './answer.ts'

test.each([
  { text: '{"error": "there is no server a"}', kind: 'not-found' },
  { text: '[]', kind: 'not-found' },
  { text: '404 page not found\n', kind: 'retryable' },
  { text: '<html><h1>404 Not Found</h1></html>', kind: 'retryable' },
  { text: '404', kind: 'retryable' },
  { text: '', kind: 'retryable' },
])('404 with $text, whatever type it says it has: $kind', ({ text, kind }) => {
  const answer = { status: 404, headers: { 'content-type': 'text/plain' }, text, asked: 'GET /a' }
  expect(statusError('http edge', answer, { isWrite: false, secrets: [] }).kind).toBe(kind)
})

test('an answer that is compressed all the same is told as such, and not shown', () => {
  const text = gzipSync('{"servers":[]}').toString()
  const answer = {
    status: 500,
    headers: { 'content-encoding': 'gzip', 'content-type': 'application/json' },
    text,
    asked: 'GET /a',
  }
  const why = 'content-encoding gzip, which it was not asked for and sluice does not read'
  const { message } = statusError('http edge', answer, { isWrite: false, secrets: [] })
  expect(message).toBe(`http edge: GET /a answered 500 (${why})`)
  expect(() => parseJson('http edge', answer, [])).toThrow(`GET /a answered with ${why}`)
  expect(parseJson('http edge', { ...answer, headers: { 'content-encoding': 'identity' }, text: '[1]' }, [])).toEqual([1])
})
