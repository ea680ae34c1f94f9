const files = (ending: string, names: string[]): string[] => names.map((name) => `test/cluster/${name}${ending}`)

/**
 * The tests that `npm run test:versions` runs on each version of Kubernetes, by project: upgrades, the same digest, a bad image, a
 * crash around the patch, a DaemonSet, a takeover, late heartbeats, and what the embedded cluster goes by.
 */
export const versionTests = {
  cluster: files('.cluster.test.ts', ['upgrade', 'variants-containers', 'bad-image', 'kill-app', 'takeover', 'fidelity']),
  'cluster-alone': files('.alone.cluster.test.ts', ['heartbeat', 'fidelity']),
}

/** What of it CI runs on versions beside the usual one. */
export const shortVersionTests = files('.cluster.test.ts', ['upgrade', 'variants-containers', 'bad-image'])
