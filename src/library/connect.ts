import type { Cluster, ConnectOptions } from './cluster.ts'
import { connect as openConnection } from '../kube/connect.ts'
import { unlessAborted } from '../kube/unless-aborted.ts'
import { systemClock, systemRandom } from '../ports/system.ts'
import { assertShape } from './request/parsed.ts'
import { connectOptions } from './request/sluice-options.ts'

/**
 * Connects to a cluster as kubectl does: with the named kubeconfig, else $KUBECONFIG, else ~/.kube/config, else the service account of the
 * pod. Fetches the credentials once, and sends no request to the cluster yet.
 *
 * Rejects with a RequestError for invalid options, and with a KubeConfigError if no cluster is configured or the credentials are not
 * available.
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
