import { expect, test } from 'vitest'
import { needsOperatorInstructions } from '../engine/instructions.ts'
import { completeCommands } from './complete-commands.ts'

const pod = { name: 'web-0', namespace: 'shop' }
const text = needsOperatorInstructions({ pod, gone: false, targets: [], former: [] })
const commandsOf = (lines: string): string[] => lines.split('\n').filter((line) => line.startsWith('  '))

test('a command that is to be pasted reaches the cluster that the run was about', () => {
  const flags = { namespace: 'shop', context: 'prod', kubeconfig: 'my files/$&', asGroup: ['ops'], requestTimeout: '5s' }
  const way = "--context prod --kubeconfig 'my files/$&' --as-group ops"
  expect(commandsOf(completeCommands(text, flags, 'kubectl sluice'))).toEqual([
    `  kubectl ${way} -n shop describe pod web-0`,
    `  kubectl sluice resolve ${way} pod/web-0 -n shop --traffic out   # it gets no requests: the run goes on from there`,
    `  kubectl sluice resolve ${way} pod/web-0 -n shop --traffic in    # it is in rotation as it was: nothing is left to do for it`,
  ])
})

test('in the middle of a sentence too; and left as it is where nothing is to be added', () => {
  const said = 'or say so: sluice resolve pod/web-0 -n shop --traffic in.'
  expect(completeCommands(said, { context: 'c' })).toBe('or say so: sluice resolve --context c pod/web-0 -n shop --traffic in.')
  expect(completeCommands(text, { namespace: 'shop' })).toBe(text)
})
