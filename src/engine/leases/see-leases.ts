import type { WorkloadId } from '../../pods/workload-id.ts'
import { isPod } from '../../workloads/kinds/pod.ts'
import { leaseName } from './lease-name.ts'
import type { SeenLease } from './ownership.ts'
import { readLease } from '../../leases/read-lease.ts'
import type { RunPorts, RunRequest } from '../request.ts'
import type { World } from '../world.ts'

/**
 * Reads the Leases of the named workloads before any other read. A Lease that is unchanged when it is taken had no other owner in between.
 * Leases that cannot be read are left out, and so are the Leases of pods and label selectors, whose workloads are not known yet.
 */
export async function seeLeases(
  { namespace, select }: Pick<RunRequest, 'namespace' | 'select'>,
  { client, clock }: Pick<RunPorts, 'client' | 'clock'>,
): Promise<Map<string, SeenLease>> {
  return lookAt('refs' in select ? select.refs : [], namespace, { client, clock })
}

/**
 * Adds the Leases of the workloads that pods and label selectors resolved to, for the plan. The plan then tells of a run to wait for, or of
 * an abort.
 */
export async function seeOthers(
  seen: ReadonlyMap<string, SeenLease>,
  { workloads }: Pick<World, 'workloads'>,
  { namespace, select }: Pick<RunRequest, 'namespace' | 'select'>,
  ports: Pick<RunPorts, 'client' | 'clock'>,
): Promise<Map<string, SeenLease>> {
  const asked = new Set('refs' in select ? select.refs.map(leaseName) : [])
  const others = workloads.map(({ workload: { ref } }) => ref).filter((ref) => !asked.has(leaseName(ref)))
  return new Map([...seen, ...(await lookAt(others, namespace, ports))])
}

/** Reads the Leases of workloads. Pods are left out: their controllers are not known yet, and bare pods may be many. */
async function lookAt(
  refs: readonly WorkloadId[],
  namespace: string,
  { client, clock }: Pick<RunPorts, 'client' | 'clock'>,
): Promise<Map<string, SeenLease>> {
  const seen = new Map<string, SeenLease>()
  const asked = refs.filter((ref) => !isPod(ref))
  await Promise.all(
    asked.map(async (ref) => {
      const name = leaseName(ref)
      const record = await readLease(client, namespace, name).catch(() => undefined)
      if (record !== undefined) seen.set(name, { record, since: clock.now(), once: true })
    }),
  )
  return seen
}
