#!/usr/bin/env node
// Nothing but node core is loaded before the compile cache is on: what comes later is compiled once per machine.
// An older Node would end with a SyntaxError and code 1, which for `plan` means "there are changes"; so nothing that it
// lacks is imported by name here.
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
  void import('./main.ts').then(({ main }) => main(process.argv))
}
