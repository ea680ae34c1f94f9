import { gzipSync } from 'node:zlib'
import { expect, test, vi } from 'vitest'
import { excerpt, parseJson, statusError } from './answer.ts'
import * as secret from './secret.ts'

test('of a long answer the beginning is looked at, and no more', () => {
  const blotOut = vi.fn(secret.createBlotter(['s3cr3t']))
  vi.spyOn(secret, 'createBlotter').mockReturnValueOnce(blotOut)
  const page = `<p>the token s3cr3t is wrong</p>${'<p>hello</p>\n'.repeat(100_000)}`
  const shown = excerpt(page, ['s3cr3t'])
  expect(shown).toMatch(/^<p>the token \*\*\* is wrong<\/p>.*…$/)
  expect(shown).toHaveLength(200)
  expect(blotOut.mock.calls[0]![0].length).toBeLessThan(page.length / 10)
})

test('a secret that is cut in two is not shown by half, wherever the cut is', () => {
  for (let before = 16_370; before < 16_390; before++) {
    const page = `${' '.repeat(before)}s3cr3t-of-the-edge${' '.repeat(1_000)}`
    expect(['***', '…']).toContain(excerpt(page, ['s3cr3t-of-the-edge']))
  }
})

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
