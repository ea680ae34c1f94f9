import { expect, test } from 'vitest'
import type { Command } from '../../reasons/command.ts'
import type { Advice } from '../../reasons/advice.ts'
import { adviceLines } from './advice.ts'
import { createWriting } from './words.ts'

const entries = [{ loadBalancer: 'edge', target: 'web/web-1@10.0.0.1:80', prior: { state: 'ready', weight: 30 } }]
const describePod: Command = { command: 'kubectl', namespace: 'shop', args: ['describe', 'pod', 'web-1'] }
const resolve = { command: 'resolve', pod: 'web-1', namespace: 'shop' } as const
const told = (...advice: Advice[]): string => advice.flatMap((one) => adviceLines(one, createWriting())).join('\n')

test('what to look at, how it was, and how to go on', () => {
  expect(
    told(
      { code: 'look-at-entries', entries },
      { code: 'look-at-pod', commands: [describePod] },
      { code: 'run-again' },
      {
        code: 'say-what-is-seen',
        commands: [
          { ...resolve, traffic: 'out' },
          { ...resolve, traffic: 'in' },
        ],
      },
    ),
  ).toBe(
    `Look at these entries; before the drain they were as given:
  edge: web/web-1@10.0.0.1:80, was {"state":"ready","weight":30}
Look at the pod:
  kubectl -n shop describe pod web-1
Once the cause is gone, run the same command again: it reads what is there, and goes on. An entry that was put back by hand is left so.
Where no run can know it: look yourself, half a minute from now, since a call that nobody answered may still arrive; say what you have seen, and then run the same command again:
  sluice resolve pod/web-1 -n shop --traffic out   # it gets no requests: the run goes on from there
  sluice resolve pod/web-1 -n shop --traffic in    # it is in rotation as it was: nothing is left to do for it`,
  )
})

test('of a pod that is gone', () => {
  const text = told(
    { code: 'point-entries-at-replacement' },
    { code: 'say-entries-are-right', commands: [{ ...resolve, gone: true, traffic: 'in' }] },
  )
  expect(text).toContain('Point the entries at the pod in its place')
  expect(text).toMatch(/left out for good:\n {2}sluice resolve pod\/web-1 -n shop --gone --traffic in$/)
})

test('of a pod that is in rotation in a part, as a person has said', () => {
  expect(told({ code: 'put-rest-back', commands: [{ ...resolve, loadBalancers: ['inner'], traffic: 'in' }] })).toMatch(
    /\n {2}sluice resolve pod\/web-1 -n shop --load-balancer inner --traffic in$/,
  )
})

test('of a failed pod', () => {
  expect(
    told(
      { code: 'stays-out', entries },
      { code: 'see-why', commands: [describePod] },
      { code: 'upgrade-to-working-images', former: [{ container: 'app', image: 'app:v1' }] },
    ),
  ).toBe(
    `It stays out of rotation:
  edge: web/web-1@10.0.0.1:80, was {"state":"ready","weight":30}
See why:
  kubectl -n shop describe pod web-1
An upgrade to images that work (before this one: app=app:v1) takes it from there, and puts it back as it was.`,
  )
})
