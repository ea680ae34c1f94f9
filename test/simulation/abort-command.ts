import { prepareAbort } from '../../src/engine/orders/abort.ts'
import { RunError } from '../../src/engine/errors.ts'
import { orderAbort } from '../../src/engine/orders/order-abort.ts'
import type { RunPorts, RunRequest } from '../../src/engine/request.ts'
import type { PreparedRun } from '../../src/engine/run.ts'

/**
 * Aborts as `sluice abort` does: orders the abort, waits for the owner of the run, and ends the run itself where it has no owner.
 * @throws RunError where there is nothing to abort, or nothing is left of it after the owner has finished
 */
export async function prepareAbortCommand(
  { namespace, select, settings }: Pick<RunRequest, 'namespace' | 'select' | 'settings'>,
  ports: RunPorts,
): Promise<PreparedRun> {
  const by = ports.identity
  const ordered = await orderAbort({ namespace, select, by, wait: true, onOrdered() {}, onLook() {} }, ports)
  if (ordered.kind !== 'left') throw new RunError('preflight', { code: 'nothing-to-order', order: 'abort', asked: ordered.kind })
  return prepareAbort({ namespace, settings, by, ...ordered }, ports)
}
