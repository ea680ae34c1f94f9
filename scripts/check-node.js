// Plain JavaScript for any Node. Reports the missing Node where the pinned one was not installed (npm ci --ignore-scripts).
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 19)) {
  console.error(
    `sluice's scripts need Node 22.19 or later, this is ${process.version}. The dev dependency "node" brings the right one: ` +
      'run "npm ci" without --ignore-scripts (its install script places the binary), or use a newer Node.',
  )
  process.exit(1)
}
