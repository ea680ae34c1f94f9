import type { LedgerPart, PlacedLedger } from '../../journal/ledger.ts'
import { chunkName } from '../../journal/ledger.ts'
import { isNotFound } from '../../kube/errors.ts'
import type { LedgerOptions } from './create-part.ts'
import { pathOfPart } from './create-part.ts'

/**
 * Removes every part of a ledger, as it was read: the header first, so that what is left of a half removal is no ledger. Rejects with a
 * KubeError, of kind `conflict` where somebody has written to it since.
 */
export async function deleteLedger({ ledger: { header }, places }: PlacedLedger, options: LedgerOptions): Promise<void> {
  for (const [chunk, { version }] of places.parts.entries())
    await deletePart({ name: chunkName(header.run, chunk), version }, options)
}

/**
 * Found by trial: a part that nobody had begun with was removed when a run had it by then, since the call was long on its way, and the
 * ledger could not be read any more.
 */
export async function deletePart(
  { name, version }: Pick<LedgerPart, 'name' | 'version'>,
  { client, namespace }: LedgerOptions,
): Promise<void> {
  await client.delete(pathOfPart(namespace, name), { resourceVersion: version }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error
  })
}
