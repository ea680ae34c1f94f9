import { expect, test } from 'vitest'
import { createServedText } from './served-text.ts'

function documentOf(...texts: string[]) {
  let reads = 0
  const read = () => {
    const text = texts[Math.min(reads, texts.length - 1)]!
    reads += 1
    return Promise.resolve({ text, version: text })
  }
  return { read, reads: () => reads }
}

const pass = (): void => {}

test('what grows between two reads is not given', async () => {
  const { read } = documentOf('one', 'one, t', 'one, two', 'one, two')
  expect(await createServedText(read, pass)()).toBe('one, two')
})

test('all that ask at once share a read', async () => {
  const { read, reads } = documentOf('one')
  const text = createServedText(read, pass)
  expect(await Promise.all([text(), text(), text()])).toEqual(['one', 'one', 'one'])
  expect(reads()).toBe(2)
})

test('a text that cannot be used is refused, and the next one is given', async () => {
  const { read } = documentOf('bad', 'bad', 'bad', 'good', 'good')
  const text = createServedText(read, (one) => {
    if (one === 'bad') throw new Error('it is bad')
  })
  await expect(text()).rejects.toThrow('it is bad')
  expect(await text()).toBe('good')
})

test('a document that is written all the time is said to be', async () => {
  let version = 0
  const read = () => Promise.resolve({ text: '', version: String((version += 1)) })
  await expect(createServedText(read, pass)()).rejects.toThrow('written all the time')
})
