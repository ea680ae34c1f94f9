import type { Cluster, ConnectOptions } from './cluster.ts'
import { connect as openConnection } from '../kube/connect.ts'
import { unlessAborted } from '../kube/unless-aborted.ts'
import { systemClock, systemRandom } from '../ports/system.ts'
import { assertShape } from './request/parsed.ts'
import { connectOptions } from './request/sluice-options.ts'

/**
 * The way to a cluster by the same files as kubectl has: the kubeconfig that is named, else $KUBECONFIG, else ~/.kube/config; or within
 * a cluster the service account of the pod. Gets the credentials once; asks nothing of the cluster yet.
 *
 * Rejects with a RequestError for options that cannot be, and with a KubeConfigError where no cluster is configured, or its credentials cannot be had.
 */
export async function connect(given: ConnectOptions = {}): Promise<Cluster> {
  assertShape(connectOptions, given, 'options')
  const { signal, ...options } = given
  signal?.throwIfAborted()
  const opening = openConnection({ clock: systemClock, random: systemRandom, ...options })
  if (signal === undefined) return opening
  try {
    return await unlessAborted(opening, signal)
  } catch (error) {
    opening.then(
      (late) => late.close(),
      () => {},
    )
    throw error
  }
}
