#!/usr/bin/env node
// Only Node core loads before the compile cache is on: later modules are compiled once per machine. Exit code 1 means "there are
// changes" for `plan`, so a SyntaxError of an older Node, or a missing part of sluice, must not end with it: this file imports nothing
// by name that an older Node lacks.
import nodeModule from 'node:module'

// By default, Node opens its debugger on SIGUSR1, on a port that every user of the machine can reach, during a run.
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
    // The error occurred before the command began. A command reports its errors by its own exit codes.
    .catch((error: unknown) => {
      process.stderr.write(`sluice cannot start, and has touched nothing: install it again (${String(error)})\n`)
      process.exitCode = 3
    })
}
