import { expect, test } from 'vitest'
import type { Advice } from '../../reasons/advice.ts'
import type { Reason } from '../../reasons/reason.ts'
import { worded } from './document.ts'
import { shellForm } from './shell.ts'
import { createWriting } from './words.ts'

const write = createWriting((command) =>
  shellForm(command, { program: 'kubectl sluice', cluster: ['--context', 'prod'], config: [] }),
)
const because = { code: 'container-waiting', container: 'app', waiting: 'ErrImagePull' } as const
const reason: Reason = { code: 'restart-not-proven', because }

test('each reason has its English beside its fields, wherever it stands, and nothing else is changed', () => {
  const message = 'no proof of the restart in time: container app ErrImagePull'
  const worse = { ...because, message: 'container app ErrImagePull' }
  expect(worded({ kind: 'X', n: null, pods: [{ pod: 'web-1', reason }] }, write)).toEqual({
    kind: 'X',
    n: null,
    pods: [{ pod: 'web-1', reason: { code: 'restart-not-proven', because: worse, message } }],
  })
})

test('each command has its shell form, that of the command line which prints it, and advice has its lines', () => {
  const resolve = { command: 'resolve', pod: 'web-1', namespace: 'shop', traffic: 'out' } as const
  const shell = 'kubectl sluice resolve --context prod pod/web-1 -n shop --traffic out'
  const advice: Advice[] = [{ code: 'say-what-is-seen', commands: [resolve] }, { code: 'run-again' }]
  const told = worded(advice, write)
  expect(told).toMatchObject([{ code: 'say-what-is-seen', commands: [{ ...resolve, shell }] }, { code: 'run-again' }])
  expect(told).toMatchObject([
    { message: expect.stringContaining(`run the same command again:\n  ${shell}   # it gets`) },
    { message: expect.stringMatching(/^Once the cause is gone, run the same command again/) },
  ])
})

// A reason may have a field `command` with the kind of a command, which is no command itself.
test('control: what has the name of a command alone is none', () => {
  const held: Reason = { code: 'lease-may-be-held', lease: 'l', holder: 'h', command: 'upgrade' }
  expect(worded(held, write)).not.toHaveProperty('shell')
  expect(worded({ command: 'sluice upgrade sts/web', namespace: 'shop' }, write)).not.toHaveProperty('shell')
})

test('a code of another version is left as it is', () => {
  const later = { code: 'of-a-later-version', pods: ['web-1'] }
  expect(worded(later, write)).toEqual(later)
})

test('what a load balancer or a template has is shown as it is, whatever it looks like', () => {
  const prior = { code: 'error', said: 'weight 5' }
  const difference = { path: 'spec.template.x', before: { code: 'error', said: 'a' }, after: { command: 'undo', namespace: 'b' } }
  expect(worded({ targets: [{ target: 'web/web0', prior }], differences: [difference] }, write)).toEqual({
    targets: [{ target: 'web/web0', prior }],
    differences: [difference],
  })
})

test('no field of a reason is lost under its English', () => {
  const told = worded({ ...because, said: 'back-off 10s' }, write)
  expect(told).toEqual({ ...because, said: 'back-off 10s', message: 'container app ErrImagePull: back-off 10s' })
  expect(worded(told, write)).toEqual(told)
})
