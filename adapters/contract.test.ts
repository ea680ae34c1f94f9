import { expect, test } from 'vitest'
import { AdapterError } from './contract.ts'

/** The class as a second copy of the package has it. */
class Copy extends Error {
  override readonly name = 'AdapterError'
  readonly kind: string
  constructor(kind: string) {
    super('lb edge: slow down')
    this.kind = kind
  }
}

test('an AdapterError of another copy of the package is one', () => {
  expect(new AdapterError('lb edge', 'throttled', 'slow down')).toBeInstanceOf(AdapterError)
  expect(new Copy('throttled')).toBeInstanceOf(AdapterError)
})

test.each([
  ['of an unknown kind', new Copy('often')],
  ['without a kind', Object.assign(new Error('x'), { name: 'AdapterError' })],
  ['of another name', Object.assign(new Error('x'), { kind: 'throttled' })],
  ['that is none', { name: 'AdapterError', kind: 'throttled' }],
  ['null', null],
])('an error %s is no AdapterError', (_, error) => {
  expect(error).not.toBeInstanceOf(AdapterError)
})

class Narrower extends AdapterError {}

test('a class that is made of it has its own instances, and no others', () => {
  const narrower = new Narrower('lb edge', 'throttled', 'slow down')
  expect(narrower).toBeInstanceOf(Narrower)
  expect(narrower).toBeInstanceOf(AdapterError)
  expect(new AdapterError('lb edge', 'throttled', 'slow down')).not.toBeInstanceOf(Narrower)
})
