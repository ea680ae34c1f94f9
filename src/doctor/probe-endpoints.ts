import { reasonOf } from '../engine/errors.ts'
import { SERVICE_NAME } from '../endpoints/endpoint-labels.ts'
import type { KubeClient } from '../kube/client.ts'
import { isNotFound, KubeError } from '../kube/errors.ts'
import { listPages } from '../kube/list-pages.ts'
import { pause } from '../kube/pause.ts'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'
import type { Probe } from './gathered.ts'

/** A controller that has not created the slice by then has a backlog of minutes, or does not work. */
const LONGEST_MS = 30_000
const LOOK_EVERY_MS = 100

/** The label that marks a probe, so that a probe that was left can be found. */
export const PROBE_LABEL = 'sluice.dev/doctor-probe'

export interface ProbePorts {
  client: KubeClient
  clock: Clock
  random: Random
  signal?: AbortSignal
}

/**
 * Creates a Service that selects no pod, waits for its EndpointSlice, which the controller creates even so, and removes the Service, and
 * with it the slice. The result reports failures.
 */
export async function probeEndpoints(namespace: string, ports: ProbePorts): Promise<Probe> {
  const { client, random } = ports
  const service = `sluice-doctor-${Math.floor(random.next() * 36 ** 6)
    .toString(36)
    .padStart(6, '0')}`
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/services`
  try {
    await client.create(path, probeService(namespace, service))
  } catch (error) {
    if (!(error instanceof KubeError)) throw error
    // The Service may exist in spite of the error. Its random name makes sure that an object of this name is the probe.
    const left = error.kind === 'ambiguous' ? await remove(client, `${path}/${service}`) : undefined
    return { namespace, service, refused: reasonOf(error), ...(left === undefined ? {} : { left }) }
  }
  const seen = await untilSlice(namespace, service, ports)
  const left = await remove(client, `${path}/${service}`)
  return { namespace, service, ...seen, ...(left === undefined ? {} : { left }) }
}

function probeService(namespace: string, name: string): unknown {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, labels: { [PROBE_LABEL]: name } },
    spec: { clusterIP: 'None', selector: { [PROBE_LABEL]: name }, ports: [{ name: 'probe', port: 1 }] },
  }
}

async function untilSlice(
  namespace: string,
  service: string,
  { client, clock, signal }: ProbePorts,
): Promise<Pick<Probe, 'lagMs' | 'waitedMs' | 'refused'>> {
  const begunAt = clock.now()
  const path = `/apis/discovery.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/endpointslices`
  for (;;) {
    let refused: Probe['refused']
    try {
      const { items } = await listPages({ client, path, selectors: { labelSelector: `${SERVICE_NAME}=${service}` } })
      if (items.length > 0) return { lagMs: Math.round(clock.now() - begunAt) }
    } catch (error) {
      if (!(error instanceof KubeError)) throw error
      if (error.kind === 'definite') return { refused: reasonOf(error) }
      refused = reasonOf(error)
    }
    const waitedMs = Math.round(clock.now() - begunAt)
    if (waitedMs >= LONGEST_MS || !(await pause(clock, LOOK_EVERY_MS, signal)))
      return { waitedMs, ...(refused === undefined ? {} : { refused }) }
  }
}

/** Removes the probe. Resolves to undefined once it is gone, and to the reason where it could not be removed. */
async function remove(client: KubeClient, path: string): Promise<Probe['left']> {
  try {
    await client.delete(path)
    return undefined
  } catch (error) {
    if (!(error instanceof KubeError)) throw error
    return isNotFound(error) ? undefined : reasonOf(error)
  }
}
