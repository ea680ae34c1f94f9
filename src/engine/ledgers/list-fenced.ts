import type { PlacedLedger, ReadLedger } from '../../journal/ledger.ts'
import { neverBegun, readLedgers } from '../../journal/ledger.ts'
import { displayName } from '../../pods/workload-id.ts'
import { RunError } from '../errors.ts'
import type { RunRequest } from '../request.ts'
import type { World } from '../world.ts'
import type { ChosenLedgers } from './choose-ledgers.ts'
import { chooseLedgers } from './choose-ledgers.ts'
import type { AssertOwned, LedgerOptions } from './create-part.ts'
import { fenceLedger, fencePart } from './fence-ledger.ts'
import { listLedgerParts } from './list-ledgers.ts'

/** The number of listings, while other writes come in between. */
const MOST_LOOKS = 5

interface Listed extends ChosenLedgers {
  unreadable: Extract<ReadLedger, { kind: 'unreadable' }>[]
}

interface ListOptions extends LedgerOptions {
  request: RunRequest
  world: World
  fence: string
  assertOwned: AssertOwned
}

/**
 * Lists the ledgers once writes of earlier owners can no longer arrive, neither in open ledgers nor in one that is about to begin. Rejects
 * with a KubeError, and with a RunError where there is nothing to abort, or where other writes come all the time.
 */
export async function listFenced({ fence, assertOwned, client, namespace, ...choice }: ListOptions): Promise<Listed> {
  const options = { client, namespace }
  const workloads = choice.world.workloads.map(({ workload: { ref } }) => displayName(ref))
  for (let looks = 1; looks <= MOST_LOOKS; looks++) {
    const parts = await listLedgerParts(client, namespace)
    const found = Object.groupBy(readLedgers(parts), ({ kind }) => kind)
    const chosen = chooseLedgers((found.read ?? []) as PlacedLedger[], choice)
    const begun = await all(neverBegun(parts, workloads), (part) => fencePart(part, fence, options, assertOwned))
    const same = chosen.same && (await fenceLedger(chosen.same, fence, options, assertOwned))
    const superseded = await all(chosen.superseded, (one) => fenceLedger(one, fence, options, assertOwned))
    if (begun && superseded && (same || !chosen.same))
      return { ...chosen, same, superseded, unreadable: (found.unreadable ?? []) as Listed['unreadable'] }
  }
  throw new RunError('conflict', { code: 'ledgers-not-taken-over', namespace, tries: MOST_LOOKS })
}

/** Fences one after another. Undefined where one of them must be listed again. */
async function all<T, R>(some: readonly T[], fenced: (one: T) => Promise<R | undefined>): Promise<R[] | undefined> {
  const done: R[] = []
  for (const one of some) {
    const now = await fenced(one)
    if (now === undefined) return undefined
    done.push(now)
  }
  return done
}
