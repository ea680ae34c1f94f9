import { expect, test } from 'vitest'
import { parsePod, parseSlice } from './parse-objects.ts'
import { addressesIn, conditionsOf } from './stored-slices.ts'

const metadata = { name: 'web-abc12', namespace: 'shop' }

test('a slice without endpoints has null for them, as Go writes it', () => {
  expect(addressesIn(parseSlice({ metadata, addressType: 'IPv4', endpoints: null, ports: null }))).toEqual([])
})

test('a condition that is null is one that is not set', () => {
  const { endpoints } = parseSlice({
    metadata,
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: null, serving: false } }],
  })
  expect(endpoints!.map(conditionsOf)).toEqual([{ ready: true, serving: false, terminating: false }])
})

test('what is no pod is refused', () => {
  expect(() => parsePod({ metadata })).toThrow('uid')
})
