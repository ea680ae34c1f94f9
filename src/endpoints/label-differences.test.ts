import { expect, test } from 'vitest'
import { controllerRules } from './controller-rules.ts'
import { endpointsLabels, ENDPOINTS_MANAGED_BY, HEADLESS, sliceLabels } from './endpoint-labels.ts'
import { endpointsLabelDifferences, sliceLabelDifferences } from './label-differences.ts'
import { service } from './testing/objects.ts'

const [old, current] = [controllerRules(32), controllerRules(35)]
const headless = service({ clusterIP: 'None' }, { labels: { app: 'web' } })

test.each([
  ['1.32', old],
  ['1.35', current],
])('what the controller of %s has written is equal, with the label of a headless Service on it', (_, rules) => {
  expect(endpointsLabels(headless, rules)).toHaveProperty([HEADLESS])
  for (const one of [headless, service(), service({}, { labels: { team: 'shop' } })]) {
    expect(endpointsLabelDifferences(one, endpointsLabels(one, rules), rules)).toEqual([])
    expect(sliceLabelDifferences(one, sliceLabels(one))).toEqual([])
  }
})

test('a label on the Endpoints alone is told, and so is one that they lack, or have with another value', () => {
  const labels = { ...endpointsLabels(headless, current), app: 'other', injected: 'yes' }
  const withTeam = service({ clusterIP: 'None' }, { labels: { app: 'web', team: 'shop' } })
  expect(endpointsLabelDifferences(withTeam, labels, current)).toEqual([
    { name: 'app', onService: 'web', onEndpoints: 'other' },
    { name: 'injected', onEndpoints: 'yes' },
    { name: 'team', onService: 'shop' },
  ])
  expect(sliceLabelDifferences(withTeam, { ...sliceLabels(withTeam), injected: 'yes' })).toEqual([
    { name: 'injected', onEndpoints: 'yes' },
  ])
})

test('a Service that has a label of the controller is never equal to its Endpoints', () => {
  const one = service({ clusterIP: 'None' }, { labels: { [HEADLESS]: '' } })
  expect(endpointsLabelDifferences(one, endpointsLabels(one, current), current)).toEqual([{ name: HEADLESS, onService: '' }])
  const two = service({}, { labels: { [ENDPOINTS_MANAGED_BY]: 'endpoint-controller' } })
  expect(endpointsLabelDifferences(two, endpointsLabels(two, current), current).map(({ name }) => name)).toEqual([
    ENDPOINTS_MANAGED_BY,
  ])
  expect(sliceLabelDifferences(one, sliceLabels(one))).toEqual([])
})

test('since 1.33 Endpoints that lack the mark of their controller are written anew', () => {
  expect(endpointsLabelDifferences(service(), {}, current).map(({ name }) => name)).toEqual([ENDPOINTS_MANAGED_BY])
  expect(endpointsLabelDifferences(service(), {}, old)).toEqual([])
})
