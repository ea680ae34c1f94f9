import { expect, test } from 'vitest'
import type { Passage } from './play.ts'
import { incidentFaults } from './verdict.ts'

const incident = { expected: ['observe sweep', 'explain no-selector'] }
const passage: Passage = {
  found: [],
  noted: [],
  requests: 100,
  failed: 10,
  traffic: [],
  changes: [],
  addressChanges: 0,
  copyLags: [],
}
const before = { ...passage, found: ['observe sweep'], noted: ['explain no-selector'] }

test('found by all of its codes, and by none after the cure', () => {
  // A note alone is not a fault.
  const after = { ...passage, noted: ['explain no-selector'] }
  expect(incidentFaults(incident, { before, after })).toEqual([])
})

test('each code that is missing, each that is left, and a play without requests', () => {
  const left = { ...passage, found: ['doctor endpoints-by-hand'], requests: 0 }
  expect(incidentFaults(incident, { before: { ...before, found: [] }, after: left })).toEqual([
    'it was not found: observe sweep',
    'after the cure it is still found: doctor endpoints-by-hand',
    'no request was sent',
  ])
})

test('with rules no request may fail, and nothing may be found', () => {
  const of = (withRules: Passage) => incidentFaults(incident, { before, withRules, after: passage })
  expect(of({ ...passage, failed: 0 })).toEqual([])
  expect(of({ ...passage, found: ['observe sweep'] })).toEqual([
    'with the rules 10 of 100 requests failed',
    'with the rules it is still found: observe sweep',
  ])
})
