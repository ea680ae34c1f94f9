import type { KubeClient, PatchOperation } from '../../kube/client.ts'
import { KubeError } from '../../kube/errors.ts'
import { messageOf, RunError } from '../errors.ts'
import type { LeaseRecord } from '../leases/lease.ts'
import { leasePath, leaseRecord } from '../leases/lease.ts'
import type { OpenRuns } from './open-runs.ts'
import type { Order } from './order.ts'
import { ORDER_ANNOTATION, readOrder, writeOrder } from './order.ts'

/** A renewal of the owner may come in between, once in four seconds. */
const MOST_TRIES = 5
const PATH = `/metadata/annotations/${ORDER_ANNOTATION.replaceAll('/', '~1')}`

interface OrderOptions {
  client: KubeClient
  namespace: string
}

/**
 * Writes an order for all open runs to the Leases of their workloads. Idempotent. Throws a RunError where an abort has
 * been ordered and this is none, since an abort is never taken back; and where the order may stand, and that cannot be known.
 */
export async function giveOrder(
  { runs, leases }: OpenRuns,
  { order, by }: Pick<Order, 'order' | 'by'>,
  options: OrderOptions,
): Promise<void> {
  const meant = { order, runs: runs.map(({ run }) => run), by }
  await changeAll(leases, options, (now) => {
    const given = readOrder(now.annotations)
    const isMeant = given?.runs.some((run) => meant.runs.includes(run)) ?? false
    if (isMeant && given!.order === 'abort' && order !== 'abort') throw beingAborted(given!)
    if (isMeant && given!.order === order && meant.runs.every((run) => given!.runs.includes(run))) return undefined
    const value = writeOrder(meant)
    return Object.keys(now.annotations).length === 0
      ? [{ op: 'add', path: '/metadata/annotations', value: { [ORDER_ANNOTATION]: value } }]
      : [{ op: 'add', path: PATH, value }]
  })
}

/** Somebody may have deleted them: then an order would stand nowhere, and nobody would find it. */
export function assertLeased({ asked, runs, leases }: OpenRuns): void {
  if (leases.length > 0) return
  throw new RunError(
    'preflight',
    `run ${runs.map(({ run }) => run).join(', ')} of ${asked}: the Lease that the order would stand on is gone; a process that ` +
      'is at work stops for that within seconds, and then only the same upgrade command, or an abort that waits, goes on with it',
  )
}

/** Takes the pause off. Answers who had given it; undefined where none of the runs is paused. */
export async function liftPause({ runs, leases }: OpenRuns, options: OrderOptions): Promise<string | undefined> {
  let by: string | undefined
  await changeAll(leases, options, (now) => {
    const given = readOrder(now.annotations)
    if (!given?.runs.some((id) => runs.some(({ run }) => run === id))) return undefined
    if (given.order === 'abort') throw beingAborted(given)
    by = given.by
    // Of the others that it means nobody has said that they may go on.
    const others = given.runs.filter((id) => !runs.some(({ run }) => run === id))
    if (others.length > 0) return [{ op: 'replace', path: PATH, value: writeOrder({ ...given, runs: others }) }]
    return [{ op: 'remove', path: PATH }]
  })
  return by
}

function beingAborted({ by, runs }: Order): RunError {
  return new RunError('conflict', `run ${runs.join(', ')} is being aborted (by ${by}), which is never taken back`)
}

type Decide = (now: LeaseRecord) => PatchOperation[] | undefined

/** One after another. Where one of them is changed, or may be, and another cannot be, nobody may take that for nothing done. */
async function changeAll(leases: readonly LeaseRecord[], options: OrderOptions, decide: Decide): Promise<void> {
  let mayStand = false
  for (const lease of leases) {
    try {
      await change(lease, options, decide, () => {
        mayStand = true
      })
    } catch (error) {
      if (!mayStand || error instanceof RunError) throw error
      const message = `${messageOf(error)}: whether this stands is not known; the same command once more makes sure of it`
      throw new RunError('deadline', message, { cause: error })
    }
  }
}

/** Guarded by the version, and decided anew on what is there when that has moved on. */
async function change(
  lease: LeaseRecord,
  { client, namespace }: OrderOptions,
  decide: Decide,
  onSent: () => void,
): Promise<void> {
  const path = leasePath(namespace, lease.name)
  let now = lease
  for (let tries = 1; ; tries++) {
    const operations = decide(now)
    if (operations === undefined) return
    try {
      await client.patch(path, [{ op: 'test', path: '/metadata/resourceVersion', value: now.resourceVersion }, ...operations])
      onSent()
      return
    } catch (error) {
      const isAmbiguous = error instanceof KubeError && error.kind === 'ambiguous'
      if (isAmbiguous) onSent()
      const isStale = isAmbiguous || (error instanceof KubeError && (error.status === 422 || error.kind === 'conflict'))
      if (!isStale || tries === MOST_TRIES) throw error
      now = leaseRecord(await client.get(path))
    }
  }
}
