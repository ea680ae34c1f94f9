import { listInfos } from './cluster-info.ts'
import { removeCluster, sweepClusters } from './sweep.ts'

// Takes down the clusters of `npm run cluster`, and the remains of killed tests. With IDs (`npm run cluster:down -- 1a2b3c4d`) it takes
// down only these clusters, for a shared machine.
const ids = new Set(process.argv.slice(2))
const known = (await listInfos()).map(({ id }) => id)
const unknown = [...ids].filter((id) => !known.includes(id))
if (unknown.length > 0) {
  // A misspelt ID must not read as success.
  const there = known.length === 0 ? 'there is none' : `there are: ${known.toSorted().join(', ')}`
  console.error(`error: no cluster has the id ${unknown.join(', ')}; ${there}. Nothing was taken down.`)
  process.exitCode = 2
} else {
  const orphans = ids.size === 0 ? await sweepClusters() : []
  const chosen = (await listInfos()).filter((info) => (ids.size === 0 ? info.owner === null : ids.has(info.id)))
  for (const info of chosen) {
    await removeCluster(info)
  }
  console.log(`Taken down: ${chosen.length} running, ${orphans.length} left over from dead processes.`)
}
