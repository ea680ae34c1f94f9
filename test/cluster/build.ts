import { ensureBinaries, ensureKubectl } from './binaries.ts'
import { clusterSupport, onPath } from './support.ts'

// What a test cluster is made of, ahead of the tests that wait for it: `.ci/run`. kubectl is wanted first.
const support = await clusterSupport()
if (support.available) {
  if (!onPath('kubectl')) await ensureKubectl()
  await ensureBinaries()
}
