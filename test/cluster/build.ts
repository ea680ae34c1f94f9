import { ensureBinaries, ensureKubectl } from './binaries.ts'
import { chosenVersion, versionNamed } from './kubernetes-versions.ts'
import { clusterSupport, onPath } from './support.ts'

// Builds the parts of test clusters ahead of the tests that need them (`.ci/run`). Arguments name versions of Kubernetes. kubectl is built
// first.
const named = process.argv.slice(2).map((version) => versionNamed(version, 'build'))
const versions = named.length > 0 ? named : [chosenVersion()]
const support = await clusterSupport()
if (support.available) {
  if (!onPath('kubectl')) await ensureKubectl()
  for (const version of versions) await ensureBinaries(version)
}
