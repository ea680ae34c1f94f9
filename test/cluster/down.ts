import { listInfos } from './cluster-info.ts'
import { removeCluster, sweepClusters } from './sweep.ts'

// Takes down what `npm run cluster` started, and what is left of tests that were killed.
const orphans = await sweepClusters()
const detached = (await listInfos()).filter((info) => info.owner === null)
for (const info of detached) {
  await removeCluster(info)
}
console.log(`Taken down: ${detached.length} running, ${orphans.length} left over from dead processes.`)
