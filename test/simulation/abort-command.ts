import { prepareAbort } from '../../src/engine/abort.ts'
import { RunError } from '../../src/engine/errors.ts'
import { giveOrder } from '../../src/engine/give-order.ts'
import { awaitOpenRuns, readOpenRuns } from '../../src/engine/open-runs.ts'
import type { RunPorts, RunRequest } from '../../src/engine/request.ts'
import type { PreparedRun } from '../../src/engine/run.ts'
import { watchOwner } from '../../src/engine/watch-owner.ts'

/**
 * What `sluice abort` does: orders it, waits for whoever is at work on the run, and ends it itself where nobody is.
 * @throws RunError where there is nothing to abort, or nothing is left of it when the owner is done
 */
export async function prepareAbortCommand(
  { namespace, select, settings }: Pick<RunRequest, 'namespace' | 'select' | 'settings'>,
  ports: RunPorts,
): Promise<PreparedRun> {
  const { client, clock, identity: by } = ports
  const open = await awaitOpenRuns(client, { namespace, select }, clock)
  const runs = open.runs.map(({ run }) => run)
  if (runs.length === 0) throw new RunError('preflight', 'no run is open: nothing to abort')
  await giveOrder(open, { order: 'abort', by }, { client, namespace })
  const seen = await watchOwner({ client, clock, namespace, leases: open.leases, onLook() {} })
  const now = await readOpenRuns(client, { namespace, select })
  if (!now.runs.some(({ run }) => runs.includes(run)))
    throw new RunError('preflight', 'what was to be aborted has come to its end')
  return prepareAbort({ namespace, settings, open: now, runs, by, seen }, ports)
}
