import { CommanderError } from 'commander'
import { expect, test } from 'vitest'
import { createProgram } from './program.ts'
import { processTerminal } from './terminal.ts'

let text = ''
const terminal = processTerminal()
terminal.out = { ...terminal.out, write: (more) => void (text += more) }
const program = createProgram({ invocation: { program: 'sluice', args: [] }, terminal, onDone: () => {} })

test.each(program.commands.map((command) => command.name()))('sluice %s --help says how it exits', (command) => {
  text = ''
  expect(() => program.parse([command, '--help'], { from: 'user' })).toThrow(CommanderError)
  expect(text).toContain('\nExit codes')
})
