import type { PlacedLedger } from '../../journal/ledger.ts'
import { FENCE_KEY, chunkName } from '../../journal/ledger.ts'
import { isNotFound, KubeError } from '../../kube/errors.ts'
import type { AssertOwned, LedgerOptions } from './create-part.ts'
import { pathOfPart } from './create-part.ts'

/**
 * Voids whatever was sent to this ledger before, by a fence of its own in each ConfigMap. Found by trial: who goes on with a run may
 * have the same to write as stands there, which is no write, and the last words of the owner before, five seconds on their way, said
 * of a pod that was drained by then that nothing was.
 *
 * Only over what was read: undefined where somebody has written to it since, or where that is not known, and it is to be read again.
 * Where it has this fence already, nothing is written. Rejects with a KubeError, and with what `assertOwned` throws.
 */
export async function fenceLedger(
  found: PlacedLedger,
  fence: string,
  { client, namespace }: LedgerOptions,
  assertOwned: AssertOwned,
): Promise<PlacedLedger | undefined> {
  const { ledger, places } = found
  for (const [chunk, part] of places.parts.entries()) {
    if (part.fence === fence) continue
    await assertOwned()
    try {
      const path = pathOfPart(namespace, chunkName(ledger.header.run, chunk))
      const test = { op: 'test', path: '/metadata/resourceVersion', value: part.version } as const
      await client.patch(path, [test, { op: 'add', path: `/data/${FENCE_KEY}`, value: fence }], { beforeAgain: assertOwned })
    } catch (error) {
      if (!(error instanceof KubeError)) throw error
      if (error.status !== 422 && error.kind !== 'ambiguous' && !isNotFound(error)) throw error
      return undefined
    }
  }
  return { ...found, places: { ...places, parts: places.parts.map(({ version }) => ({ fence, version })) } }
}
