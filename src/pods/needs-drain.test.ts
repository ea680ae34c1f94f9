import { expect, test } from 'vitest'
import { beyondUndrained, needsDrain, withinUndrained } from './needs-drain.ts'
import { testPod } from './testing/raw-pod.ts'

const pod = testPod({
  containers: [
    { name: 'app', image: 'app:v1' },
    { name: 'log-agent', image: 'agent:v1' },
    { name: 'metrics', image: 'metrics:v1' },
  ],
})
const APP = { container: 'app', image: 'app:v2' }
const SAME_APP = { container: 'app', image: 'app:v1' }
const AGENT = { container: 'log-agent', image: 'agent:v2' }
const METRICS = { container: 'metrics', image: 'metrics:v2' }

test.each([
  { it: 'changes a container that is named', wanted: [AGENT], notFor: ['log-agent'], drained: false },
  { it: 'changes two that are named', wanted: [AGENT, METRICS], notFor: ['log-agent', 'metrics'], drained: false },
  { it: 'asks for what another one has already', wanted: [SAME_APP, AGENT], notFor: ['log-agent'], drained: false },
  { it: 'changes another one too', wanted: [APP, AGENT], notFor: ['log-agent'], drained: true },
  { it: 'changes one of two that are named, and another', wanted: [AGENT, METRICS], notFor: ['log-agent'], drained: true },
  { it: 'changes one that is not named', wanted: [APP], notFor: ['log-agent'], drained: true },
  { it: 'changes nothing', wanted: [SAME_APP], notFor: ['app'], drained: true },
  { it: 'changes a container, and none is named', wanted: [AGENT], notFor: [], drained: true },
])('a request that $it: drained $drained', ({ wanted, notFor, drained }) => {
  expect(needsDrain(pod, wanted, notFor)).toBe(drained)
})

test('an attempt without a drain is about the containers of its record alone, until it is closed', () => {
  const undrained = ['log-agent']
  expect(withinUndrained({ step: 'patched', undrained }, [APP, AGENT])).toEqual([AGENT])
  expect(withinUndrained({ step: 'closed', undrained }, [APP, AGENT])).toEqual([APP, AGENT])
  expect(withinUndrained({ step: 'patched' }, [APP, AGENT])).toEqual([APP, AGENT])
  expect(withinUndrained(undefined, [APP, AGENT])).toEqual([APP, AGENT])
})

test('what neither its record nor the config lets through without a drain is named', () => {
  const given = { pod, wanted: [SAME_APP, AGENT, METRICS] }
  const both = ['log-agent', 'metrics']
  expect(beyondUndrained({ undrained: both }, { ...given, notFor: both })).toEqual([])
  expect(beyondUndrained({ undrained: ['log-agent'] }, { ...given, notFor: both })).toEqual(['metrics'])
  expect(beyondUndrained({ undrained: both }, { ...given, notFor: ['metrics'] })).toEqual(['log-agent'])
  expect(beyondUndrained({}, { ...given, notFor: [] }), 'control: of a pod that is drained nothing is').toEqual([])
})
