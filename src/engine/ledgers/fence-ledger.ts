import type { LedgerPart, PlacedLedger } from '../../journal/ledger.ts'
import { FENCE_KEY, chunkName } from '../../journal/ledger.ts'
import { isNotFound, KubeError } from '../../kube/errors.ts'
import type { AssertOwned, LedgerOptions } from './create-part.ts'
import { pathOfPart, RawConfigMap } from './create-part.ts'

/**
 * Sets the fence of each ConfigMap of the ledger, which voids writes that were sent before. A run that continues a ledger may have nothing
 * to write, and a late write of the earlier owner could then still arrive.
 * The fence is written only over the data that was read. Undefined: the ledger was written since, or the result is unknown, and it must be
 * read again. Rejects with a KubeError, and with the error of `assertOwned`.
 */
export async function fenceLedger(
  found: PlacedLedger,
  fence: string,
  options: LedgerOptions,
  assertOwned: AssertOwned,
): Promise<PlacedLedger | undefined> {
  const { ledger, places } = found
  for (const [chunk, part] of places.parts.entries()) {
    const name = chunkName(ledger.header.run, chunk)
    if (!(await fencePart({ name, ...part }, fence, options, assertOwned))) return undefined
  }
  return { ...found, places: { ...places, parts: places.parts.map(({ version }) => ({ fence, version })) } }
}

/** Sets the fence of one ConfigMap. True once the ConfigMap has the fence. */
export async function fencePart(
  part: Pick<LedgerPart, 'name' | 'version'> & { fence: string | undefined },
  fence: string,
  { client, namespace }: LedgerOptions,
  assertOwned: AssertOwned,
): Promise<true | undefined> {
  if (part.fence === fence) return true
  await assertOwned()
  const path = pathOfPart(namespace, part.name)
  try {
    const test = { op: 'test', path: '/metadata/resourceVersion', value: part.version } as const
    await client.patch(path, [test, { op: 'add', path: `/data/${FENCE_KEY}`, value: fence }], { beforeAgain: assertOwned })
    return true
  } catch (error) {
    if (!(error instanceof KubeError)) throw error
    if (error.kind === 'ambiguous' || isNotFound(error)) return undefined
    // A refusal with an unchanged version is final: the ConfigMap is immutable, or a policy refuses the write.
    if (error.status !== 422 || (await versionOf(part.name, { client, namespace })) === part.version) throw error
    return undefined
  }
}

async function versionOf(name: string, { client, namespace }: LedgerOptions): Promise<string | undefined> {
  try {
    return RawConfigMap.parse(await client.get(pathOfPart(namespace, name))).metadata.resourceVersion
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}
