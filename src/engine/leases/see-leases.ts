import { leaseName } from './lease.ts'
import type { SeenLease } from './ownership.ts'
import { readLease } from './read-lease.ts'
import type { RunPorts, RunRequest } from '../request.ts'

/**
 * The Leases of the workloads that are asked for by name, as they are before anything else is looked at: where one is the same when
 * it is taken, nobody has had it in between. What cannot be read is left out, and so are those of what is not known yet: the
 * owners of pods, and of what labels select.
 */
export async function seeLeases(
  { namespace, select }: Pick<RunRequest, 'namespace' | 'select'>,
  { client, clock }: Pick<RunPorts, 'client' | 'clock'>,
): Promise<Map<string, SeenLease>> {
  const refs = 'refs' in select ? select.refs.filter(({ kind }) => kind !== 'Pod') : []
  const seen = new Map<string, SeenLease>()
  await Promise.all(
    refs.map(async (ref) => {
      const name = leaseName(ref)
      const record = await readLease(client, namespace, name).catch(() => undefined)
      if (record !== undefined) seen.set(name, { record, since: clock.now(), once: true })
    }),
  )
  return seen
}
