/**
 * Runs a command while standard input is open, and exits when the command does. A program that does not read its standard input
 * (haproxy, sluice) would outlive a demo that was killed.
 *
 *   leash COMMAND ARGUMENT...
 */
import { spawn } from 'node:child_process'

const [command = '', ...args] = process.argv.slice(2)
const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] })

// The signal reaches the whole group: the command ends in order, and the leash ends after it.
process.on('SIGINT', () => {})
process.stdin.on('close', () => child.kill('SIGKILL')).resume()
child.once('error', ({ message }) => {
  process.stderr.write(`${message}\n`)
  process.exit(127)
})
child.once('exit', (code) => process.exit(code ?? 1))
