import type { LedgerPart, PlacedLedger } from '../../journal/ledger.ts'
import { FENCE_KEY, chunkName } from '../../journal/ledger.ts'
import { isNotFound, KubeError } from '../../kube/errors.ts'
import type { AssertOwned, LedgerOptions } from './create-part.ts'
import { pathOfPart, RawConfigMap } from './create-part.ts'

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

/** The same for one ConfigMap: true once it has this fence. */
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
    // As it was read, it is refused for good: one that cannot be changed, or a policy.
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
