import { ensureBinaries, ensureKubectl } from './binaries.ts'
import { chosenVersion, versionNamed } from './kubernetes-versions.ts'
import { clusterSupport, onPath } from './support.ts'

// What test clusters are made of, ahead of the tests that wait for it: `.ci/run`. Versions of Kubernetes may be named.
// kubectl is wanted first.
const named = process.argv.slice(2).map((version) => versionNamed(version, 'build'))
const versions = named.length > 0 ? named : [chosenVersion()]
const support = await clusterSupport()
if (support.available) {
  if (!onPath('kubectl')) await ensureKubectl()
  for (const version of versions) await ensureBinaries(version)
}
