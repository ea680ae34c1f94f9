const files = (ending: string, names: string[]): string[] => names.map((name) => `test/cluster/${name}${ending}`)

/**
 * The tests that `npm run test:versions` runs on each version of Kubernetes, by project: upgrades, the same digest, a bad image, a crash
 * around the patch, a DaemonSet, a takeover, late heartbeats, and the fidelity of the embedded cluster.
 */
export const versionTests = {
  cluster: files('.cluster.test.ts', ['upgrade', 'variants-containers', 'bad-image', 'kill-app', 'takeover', 'fidelity']),
  'cluster-alone': files('.alone.cluster.test.ts', ['heartbeat', 'fidelity']),
}

/** The tests that CI runs on the other versions. */
export const shortVersionTests = files('.cluster.test.ts', ['upgrade', 'variants-containers', 'bad-image'])
