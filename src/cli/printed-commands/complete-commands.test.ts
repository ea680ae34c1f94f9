import { delimiter } from 'node:path'
import { expect, test } from 'vitest'
import { needsOperatorInstructions } from '../../engine/instructions.ts'
import { completeCommands } from './complete-commands.ts'

const pod = { name: 'web-0', namespace: 'shop' }
const text = needsOperatorInstructions({ pod, gone: false, targets: [], former: [] })
const commandsOf = (lines: string): string[] => lines.split('\n').filter((line) => line.startsWith('  '))

test('a command that is to be pasted reaches the cluster that the run was about', () => {
  const flags = { namespace: 'shop', context: 'prod', kubeconfig: 'my files/$&', asGroup: ['ops'], requestTimeout: '5s' }
  const way = "--context prod --kubeconfig 'my files/$&' --as-group ops"
  expect(commandsOf(completeCommands(text, flags, 'kubectl sluice', {}))).toEqual([
    `  kubectl ${way} -n shop describe pod web-0`,
    `  kubectl sluice resolve ${way} pod/web-0 -n shop --traffic out   # it gets no requests: the run goes on from there`,
    `  kubectl sluice resolve ${way} pod/web-0 -n shop --traffic in    # it is in rotation as it was: nothing is left to do for it`,
  ])
})

test('in the middle of a sentence too; and left as it is where nothing is to be added', () => {
  const said = 'or say so: sluice resolve pod/web-0 -n shop --traffic in.'
  expect(completeCommands(said, { context: 'c' }, 'sluice', {})).toBe(
    'or say so: sluice resolve --context c pod/web-0 -n shop --traffic in.',
  )
  expect(completeCommands(text, { namespace: 'shop' }, 'sluice', {})).toBe(text)
})

test('a kubeconfig that the environment named is written out, where it is one file', () => {
  const said = 'set it back: kubectl patch lease web -n shop --type merge'
  const completed = (env: NodeJS.ProcessEnv, flags = {}) => completeCommands(said, flags, 'sluice', env)
  expect(completed({ KUBECONFIG: 'prod.conf' })).toBe(
    'set it back: kubectl --kubeconfig prod.conf patch lease web -n shop --type merge',
  )
  expect(completed({ KUBECONFIG: `${delimiter}prod.conf` })).toBe(completed({ KUBECONFIG: 'prod.conf' }))
  expect(completed({ KUBECONFIG: 'prod.conf' }, { kubeconfig: 'mine' })).toBe(completed({}, { kubeconfig: 'mine' }))
  expect(completed({ KUBECONFIG: ['prod.conf', 'more.conf'].join(delimiter) })).toBe(said)
})

test('one that names no namespace gets it', () => {
  const flags = { namespace: 'shop' }
  expect(completeCommands('sluice resolve pod/web-0 --traffic in', flags, 'sluice', {})).toBe(
    'sluice resolve pod/web-0 -n shop --traffic in',
  )
  expect(completeCommands('any kubectl command, with -n or without', { context: 'c' }, 'sluice', {})).toBe(
    'any kubectl command, with -n or without',
  )
})

test('one that runs has the config too, by its flag or by the environment', () => {
  const said = 'sluice undo statefulset/web --run r1 takes back the one before it; sluice upgrade daemonset/a.b brings them to it'
  const flags = { namespace: 'shop', context: 'prod', config: 'my.yaml' }
  expect(completeCommands(said, flags, 'kubectl sluice', {})).toBe(
    'kubectl sluice undo statefulset/web --run r1 -n shop --context prod --config my.yaml takes back the one before it; ' +
      'kubectl sluice upgrade daemonset/a.b -n shop --context prod --config my.yaml brings them to it',
  )
  expect(completeCommands('sluice upgrade pod/a', {}, 'sluice', { SLUICE_CONFIG: 'c' })).toBe('sluice upgrade pod/a --config c')
  expect(completeCommands('sluice upgrades pods; sluice undo takes them back', flags, 'sluice', {})).toBe(
    'sluice upgrades pods; sluice undo takes them back',
  )
})
