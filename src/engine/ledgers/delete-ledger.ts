import type { LedgerPart, PlacedLedger } from '../../journal/ledger.ts'
import { chunkName } from '../../journal/ledger.ts'
import { isNotFound } from '../../kube/errors.ts'
import type { LedgerOptions } from './create-part.ts'
import { pathOfPart } from './create-part.ts'

/**
 * Removes every part of a ledger as it was read. The header goes first, so that a removal that fails midway leaves no ledger. Rejects with
 * a KubeError, of kind `conflict` where the ledger was written since.
 */
export async function deleteLedger({ ledger: { header }, places }: PlacedLedger, options: LedgerOptions): Promise<void> {
  for (const [chunk, { version }] of places.parts.entries())
    await deletePart({ name: chunkName(header.run, chunk), version }, options)
}

/** Removes one part, guarded by its version. A run may have begun to use the part while the call was under way. */
export async function deletePart(
  { name, version }: Pick<LedgerPart, 'name' | 'version'>,
  { client, namespace }: LedgerOptions,
): Promise<void> {
  await client.delete(pathOfPart(namespace, name), { resourceVersion: version }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error
  })
}
