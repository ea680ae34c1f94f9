/**
 * Runs a command for as long as standard input is open, and ends as it ends. A program that does not look at its standard
 * input (haproxy, sluice) would outlive a demo that was killed.
 *
 *   leash COMMAND ARGUMENT...
 */
import { spawn } from 'node:child_process'

const [command = '', ...args] = process.argv.slice(2)
const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] })

// The whole group gets it: the command ends in its own order, and this with it.
process.on('SIGINT', () => {})
process.stdin.on('close', () => child.kill('SIGKILL')).resume()
child.once('error', ({ message }) => {
  process.stderr.write(`${message}\n`)
  process.exit(127)
})
child.once('exit', (code) => process.exit(code ?? 1))
