#!/usr/bin/env node
// Nothing but node core is loaded before the compile cache is on: what comes later is compiled once per machine.
// Code 1 means "there are changes" for `plan`. An older Node would end so with a SyntaxError: nothing that it lacks is imported by
// name here. So would every Node where a part of sluice is missing.
import nodeModule from 'node:module'

// Node would open its debugger for it, on a port that every user of the machine can reach, in the middle of a run.
process.on('SIGUSR1', () => {})

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `sluice needs Node 22.19 or later, and this is ${process.version} (${process.execPath}): put a newer one first in PATH\n`,
  )
  process.exitCode = 2
} else {
  nodeModule.enableCompileCache()
  void import('./main.ts')
    .then(({ main }) => main(process.argv))
    // What a command throws is told by its own code: this is from before there was one.
    .catch((error: unknown) => {
      process.stderr.write(`sluice cannot start, and has touched nothing: install it again (${String(error)})\n`)
      process.exitCode = 3
    })
}
