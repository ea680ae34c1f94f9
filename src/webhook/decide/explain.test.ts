import { expect, test } from 'vitest'
import { explainedWords } from '../../report/words/webhook.ts'
import { explainDecision } from './explain.ts'
import { endpoint, node, NOW, pod, rules, service, slice, viewOf } from './testing/world.ts'

test('each endpoint tells what is decided, and what each rule says and has read', () => {
  const list = [
    '  - {name: broken, when: \'pod.metadata.name == "x"\', effect: remove}',
    '  - {name: few, when: "readyPodsOf(service) < 3 && exists(pod)", effect: serving}',
    '  - {name: late, when: "true", effect: notReady}',
  ].join('\n')
  const object = slice([endpoint(1, { ready: true }), { addresses: ['10.9.9.9'] }])
  const cluster = viewOf([pod(1), service, node])
  const explained = explainDecision({ rules: rules(list), kind: 'EndpointSlice', object, cluster, nowAt: NOW })
  const lines = explainedWords({ ...explained, ruleSet: 'v1' })
  expect(lines).toEqual([
    'EndpointSlice shop/web-1 of Service web: 2 endpoints; rules v1',
    '  10.0.0.1 of pod web-1: serving and not ready, by rule few (serving); wished ready',
    '    broken: does not apply',
    '      pod.metadata.name = "web-1"',
    '    few: applies, and decides',
    '      readyPodsOf(service) = 1',
    '      exists(pod) = true',
    '    late: applies too, after the rule that decides',
    '  10.9.9.9, without a pod: not ready, by rule late (notReady); wished ready',
    '    broken: has failed, and counts as not applying: pod.metadata is not there',
    '      pod.metadata.name has no value: pod.metadata is not there',
    '    few: does not apply',
    '      readyPodsOf(service) = 1',
    '      exists(pod) = false',
    '    late: applies, and decides',
  ])
})
