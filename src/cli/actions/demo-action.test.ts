import { expect, test } from 'vitest'
import { demoAction } from './demo-action.ts'
import { createFakeTerminal } from '../testing/fake-terminal.ts'

test('a mistake of sluice itself ends the demo, is told as one, with its stack, and has no effect on the terminal', async () => {
  const terminal = createFakeTerminal()
  const invocation = { program: 'sluice', args: ['demo'] }
  const context = { terminal, invocation, onDone: () => {} }
  const ended = demoAction({ loadBalancer: 'embedded', pods: '2', color: 'never' }, context)
  terminal.events.emit('uncaughtException', new TypeError('\u001b[31mno act'))
  expect(await ended).toBe(1)
  expect(terminal.written.err).toMatch(/^error: TypeError: \\u001b\[31mno act\nThis is a bug in sluice\./)
  expect(terminal.written.err).toMatch(/\n {4}at .*demo-action\.test\.ts/)
})
