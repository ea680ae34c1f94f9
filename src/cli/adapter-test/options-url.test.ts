import { expect, test } from 'vitest'
import { originsIn, withOrigin } from './options-url.ts'

class Made {
  url = 'http://other:1'
}

test('the URLs of options are found wherever they stand, and those of one origin are replaced', () => {
  const made = new Made()
  const options = { command: ['./lb', 'http://lb:9000'], settings: { url: 'http://lb:9000/api?x=1', deep: [{ a: 1 }] }, made }
  expect(originsIn(options)).toEqual(['http://lb:9000'])
  expect(withOrigin(options, 'http://lb:9000', 'http://127.0.0.1:5')).toEqual({
    command: ['./lb', 'http://127.0.0.1:5'],
    settings: { url: 'http://127.0.0.1:5/api?x=1', deep: [{ a: 1 }] },
    made,
  })
})

test.each([
  ['http://a:1 and http://a:1/x', ['http://a:1', 'http://a:1/x'], ['http://a:1']],
  ['another port', ['http://a:1', 'http://a:11'], ['http://a:1', 'http://a:11']],
  ['no URL', ['a:1', 'httpx://a', 'http://'], []],
])('%s', (_, options, origins) => {
  expect(originsIn(options)).toEqual(origins)
})
