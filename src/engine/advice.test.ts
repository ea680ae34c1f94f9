import { expect, it } from 'vitest'
import type { JournalTarget } from '../pods/glossary.ts'
import { failedAdvice, needsOperatorAdvice } from './advice.ts'

const former = [{ name: 'app', image: 'app:v1' }]
const pod = { name: 'web-1', namespace: 'shop' }
const prior = { state: 'ready', weight: 30 }
const target = (name: string, untouched = false): JournalTarget => ({
  loadBalancer: 'edge',
  target: name,
  scope: 'web',
  prior,
  untouched,
})
const describePod = { command: 'kubectl', namespace: 'shop', args: ['describe', 'pod', 'web-1'] }
const resolve = (flags: object) => ({ command: 'resolve', pod: 'web-1', namespace: 'shop', ...flags })

it('names what to look at, how it was, and how to go on', () => {
  const targets = [target('web/web-1@10.0.0.1:80'), target('spare', true)]
  expect(needsOperatorAdvice({ pod, gone: false, targets, former })).toEqual([
    { code: 'look-at-entries', entries: [{ loadBalancer: 'edge', target: 'web/web-1@10.0.0.1:80', prior }] },
    { code: 'look-at-pod', commands: [describePod] },
    { code: 'run-again' },
    { code: 'say-what-is-seen', commands: [resolve({ traffic: 'out' }), resolve({ traffic: 'in' })] },
  ])
})

it('does not send anybody to a pod that is gone', () => {
  expect(needsOperatorAdvice({ pod, gone: true, targets: [target('web/web-1@10.0.0.1:80')], former })).toEqual([
    { code: 'look-at-entries', entries: [{ loadBalancer: 'edge', target: 'web/web-1@10.0.0.1:80', prior }] },
    { code: 'point-entries-at-replacement' },
    { code: 'say-entries-are-right', commands: [resolve({ gone: true, traffic: 'in' })] },
  ])
})

it('names the address of what has come in its place, where that is known', () => {
  const advice = needsOperatorAdvice({ pod, gone: true, replacementAt: '10.0.0.5', targets: [], former })
  expect(advice).toContainEqual({ code: 'point-entries-at-replacement', replacementAt: '10.0.0.5' })
})

it('asks of a pod that is in rotation in a part, as a person has said, about the rest alone, and not whether that is out', () => {
  const inner = { ...target('lb/web-1'), loadBalancer: 'inner' }
  const said = { ...target('web/web-1'), said: 'in' as const }
  const rest = { loadBalancer: 'inner', target: 'lb/web-1', prior }
  expect(needsOperatorAdvice({ pod, gone: false, targets: [said, inner, target('spare', true)], former })).toEqual([
    { code: 'look-at-entries', entries: [rest] },
    { code: 'look-at-pod', commands: [describePod] },
    { code: 'run-again' },
    { code: 'put-rest-back', commands: [resolve({ loadBalancers: ['inner'], traffic: 'in' })] },
  ])
  const [gone] = needsOperatorAdvice({ pod, gone: true, targets: [said, inner], former })
  expect(gone, 'control: of one that is gone each is to be looked at').toEqual({
    code: 'look-at-entries',
    entries: [{ loadBalancer: 'edge', target: 'web/web-1', prior }, rest],
  })
})

it('says of a failed pod what stays out, and how it comes back', () => {
  expect(failedAdvice({ pod, gone: false, targets: [target('web/web-1@10.0.0.1:80')], former })).toEqual([
    { code: 'stays-out', entries: [{ loadBalancer: 'edge', target: 'web/web-1@10.0.0.1:80', prior }] },
    { code: 'see-why', commands: [describePod] },
    { code: 'upgrade-to-working-images', former: [{ container: 'app', image: 'app:v1' }] },
  ])
})
