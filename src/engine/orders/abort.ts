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
  /** One at least. */
  open: OpenRuns
  /** Those that the order means: it may have waited for their owner for long, and another be open by now. */
  runs: readonly string[]
  by: string
  /** Owners that are known to be dead. */
  seen: ReadonlyMap<string, SeenLease>
}

/**
 * Ends the open runs that were ordered to end, and what those before them have left, in place of an owner that is dead: what is
 * drained and not patched is put back, what is patched comes home, and the templates get back what they had.
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
      // What was accepted when the run began need not be said again to end it.
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
