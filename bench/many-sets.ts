import { startManySets } from '../test/embedded/many-sets.ts'

/*
 * Runs the cluster of bench/runs.ts in a process of its own, so that its cost does not count for the runs:
 * `node bench/many-sets.ts SETS PODS`. It writes one line of JSON once all pods are ready, and ends when its stdin ends.
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
