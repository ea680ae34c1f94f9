import { startManySets } from '../test/embedded/many-sets.ts'

/*
 * A process of its own for the cluster of bench/runs.ts, so that what it takes is not taken from the runs:
 * `node bench/many-sets.ts SETS PODS`. Writes one line of JSON once all pods are ready, and lives until its stdin ends.
 */

const [sets, pods] = process.argv.slice(2).map(Number) as [number, number]
const bed = await startManySets({ sets, pods, readyAfterMs: 1_000 })
const servers = bed.pods().map(({ metadata: { name }, status }) => ({ name, address: status!.podIP! }))
process.stdout.write(`${JSON.stringify({ url: bed.cluster.url, names: bed.names, servers })}\n`)
process.stdin.resume().once('end', () => {
  const { user, system } = process.cpuUsage()
  process.stdout.write(`${JSON.stringify({ mostWatches: bed.watches.most(), cpuMs: (user + system) / 1_000 })}\n`)
  void bed.stop()
})
