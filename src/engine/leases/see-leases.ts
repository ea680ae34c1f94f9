import type { WorkloadId } from '../../pods/workload-id.ts'
import { isPod } from '../../workloads/kinds/pod.ts'
import { leaseName } from './lease.ts'
import type { SeenLease } from './ownership.ts'
import { readLease } from './read-lease.ts'
import type { RunPorts, RunRequest } from '../request.ts'
import type { World } from '../world.ts'

/**
 * The Leases of the workloads that are asked for by name, as they are before anything else is looked at: where one is the same when
 * it is taken, nobody has had it in between. What cannot be read is left out, and so are those of what is not known yet: the
 * owners of pods, and of what labels select.
 */
export async function seeLeases(
  { namespace, select }: Pick<RunRequest, 'namespace' | 'select'>,
  { client, clock }: Pick<RunPorts, 'client' | 'clock'>,
): Promise<Map<string, SeenLease>> {
  return lookAt('refs' in select ? select.refs : [], namespace, { client, clock })
}

/**
 * And those of what pods and labels have turned out to be about, for the plan. Found by a fresh user: by label it said nothing of the run
 * that it would wait for, or that was being aborted.
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

/** Of a pod it is not known yet whose it is; and those that are nobody's may be many. */
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
