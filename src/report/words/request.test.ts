import { expect, test } from 'vitest'
import { requestWords } from './request.ts'

const images = [{ container: 'app', image: 'app:v2' }]

test.each([
  [{ images }, 'app=app:v2'],
  [{ images: [...images, { container: 'log', image: 'log' }] }, 'app=app:v2 log=log'],
  [{ images: [] }, 'template'],
  [{ images, undoes: 'r6' }, 'undo of r6: app=app:v2'],
  [{ images: [], undoes: 'r6' }, 'undo of r6'],
])('%j is %s', (header, words) => {
  expect(requestWords(header)).toBe(words)
})
