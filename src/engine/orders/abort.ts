import { KINDS } from '../../workloads/kinds/index.ts'
import { WorkloadError } from '../../workloads/errors.ts'
import type { OpenRuns } from './open-runs.ts'
import { assertOrdered } from './order.ts'
import type { RunPorts, RunRequest } from '../request.ts'
import type { PreparedRun } from '../run.ts'
import { prepareRun } from '../run.ts'
import type { SeenLease } from '../leases/ownership.ts'
import { workloadsToEnd } from './to-end.ts'

export interface AbortRequest extends Pick<RunRequest, 'namespace' | 'settings'> {
  /** The open runs, at least one. */
  open: OpenRuns
  /** The runs that the order means. Other runs may be open by now, since the wait for the owner can be long. */
  runs: readonly string[]
  by: string
  /** The Leases of owners that are known to be dead. */
  seen: ReadonlyMap<string, SeenLease>
}

/**
 * Ends the ordered runs, and the remains of earlier runs, in place of a dead owner. Drained pods that are not patched are restored, patched
 * pods come home, and the templates get back their former images.
 */
export async function prepareAbort(
  { namespace, settings, open, runs, by, seen }: AbortRequest,
  ports: RunPorts,
  signal?: AbortSignal,
): Promise<PreparedRun> {
  const newest = open.runs[0]!
  const ordered = open.runs.find(({ run }) => runs.includes(run))
  if (ordered === undefined) assertOrdered(newest.run, runs)
  const refs = await workloadsToEnd(open, { runs, client: ports.client, kinds: ports.kinds ?? KINDS, namespace })
  const preparing = prepareRun(
    {
      namespace,
      select: { refs },
      images: (ordered ?? newest).images,
      settings,
      // The consents that the run was begun with also hold for its end.
      acceptTemplateDrift: true,
      allowUnbalanced: true,
      abort: { by, seen, runs },
    },
    ports,
    signal,
  )
  return preparing.catch((error: unknown) => {
    if (!(error instanceof WorkloadError) || error.kind !== 'not-found') throw error
    throw new WorkloadError('not-found', { code: 'abort-stays-ordered', because: error.reason }, { cause: error })
  })
}
