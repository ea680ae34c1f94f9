import { expect, test } from 'vitest'
import { awaitedEndpoints, missingEndpoint } from './endpoints.ts'
import type { PodEndpoint } from './glossary.ts'

const READY = { ready: true }
const NOT_READY = { ready: false }
const yes = (source: string): PodEndpoint => ({ source, unready: [], followsReady: true })
const no = (source: string, slice: string): PodEndpoint => ({ source, unready: [slice], followsReady: true })
const foreign = (endpoint: PodEndpoint): PodEndpoint => ({ ...endpoint, followsReady: false })

test('what said yes before the drain is awaited, and what said no of a Ready pod is not', () => {
  const before = [yes('web'), no('frozen', 'frozen-1'), foreign(no('mesh/web', 'hand-made'))]
  expect(awaitedEndpoints(READY, before)).toEqual(['web'])
  expect(awaitedEndpoints(READY, [foreign(yes('mesh/web'))])).toEqual(['mesh/web'])
})

test('of a pod that was not Ready, the slices that follow its Ready are awaited, and a foreign one that said no is not', () => {
  const before = [no('web', 'web-1'), foreign(no('mesh/web', 'hand-made')), foreign(yes('dns/web'))]
  expect(awaitedEndpoints(NOT_READY, before)).toEqual(['web', 'dns/web'])
})

test('the slice that still says no is named', () => {
  const now = [no('web', 'web-x7k2p'), yes('admin'), no('frozen', 'frozen-1')]
  expect(missingEndpoint(['web', 'admin'], now)).toEqual({ code: 'endpoints-not-back', slices: ['web-x7k2p'] })
})

test('a slice that appears only afterwards, or that is gone, holds up no pod', () => {
  expect(missingEndpoint(['web'], [yes('web'), foreign(no('mesh/web', 'new'))])).toBeUndefined()
  expect(missingEndpoint(['web'], [])).toBeUndefined()
})

test('a slice under another name is awaited as the one before', () => {
  expect(missingEndpoint(['web'], [no('web', 'web-other')])).toEqual({ code: 'endpoints-not-back', slices: ['web-other'] })
})
