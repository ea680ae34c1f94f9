import { z } from 'zod'
import type { KubeClient, PatchOperation } from '../../kube/client.ts'
import { KubeError } from '../../kube/errors.ts'
import { FENCE_KEY, LEDGER_LABEL, WORKLOADS_ANNOTATION, chunkName } from '../../journal/ledger.ts'

export const RawConfigMap = z.object({
  metadata: z.object({
    name: z.string(),
    resourceVersion: z.string(),
    labels: z.record(z.string(), z.string()).nullish(),
    annotations: z.record(z.string(), z.string()).nullish(),
  }),
  data: z.record(z.string(), z.string()).nullish(),
})

export function pathOfPart(namespace: string, name?: string): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/configmaps${name === undefined ? '' : `/${encodeURIComponent(name)}`}`
}

/** Throws where this process does not have the Lease any more, as after a stall. */
export type AssertOwned = () => void | Promise<void>

export interface LedgerOptions {
  client: KubeClient
  namespace: string
}

/** A ConfigMap of the ledger of a run. */
interface NewPart {
  run: string
  chunk: number
  fence: string
  /** The workloads, for a ledger that is about to begin. */
  workloads?: readonly string[]
  /** The data without the fence. */
  data: Record<string, string>
}

/** Creates a part. The name belongs to this run alone, so "already exists" after a lost answer means that the part was written. */
export async function createPart(part: NewPart, options: LedgerOptions, assertOwned: AssertOwned): Promise<void> {
  try {
    await sendPart(part, options, assertOwned)
  } catch (error) {
    if (!(error instanceof KubeError) || error.kind !== 'ambiguous') throw error
    await sendPart(part, options, assertOwned).catch((second: unknown) => {
      if (!isThereAlready(second)) throw second
    })
  }
}

/**
 * Creates an additional part. A process that was killed before the header named the part may have left it with old entries. It is written
 * anew as a whole, since those entries could settle pods that were never drained.
 */
export async function createNextPart(part: NewPart, options: LedgerOptions, assertOwned: AssertOwned): Promise<void> {
  const isMade = (): Promise<boolean> =>
    sendPart(part, options, assertOwned).then(
      () => true,
      (error: unknown) => {
        if (isThereAlready(error)) return false
        throw error
      },
    )
  const made = await isMade().catch((error: unknown) => {
    if (!(error instanceof KubeError) || error.kind !== 'ambiguous') throw error
    return isMade()
  })
  if (made) return
  const { client, namespace } = options
  const at = pathOfPart(namespace, chunkName(part.run, part.chunk))
  const { data } = RawConfigMap.parse(await client.get(at))
  const operations: PatchOperation[] = [
    { op: 'test', path: '/data', value: data ?? null },
    { op: 'add', path: '/data', value: fenced(part) },
  ]
  await assertOwned()
  await client.patch(at, operations, { beforeAgain: assertOwned })
}

function isThereAlready(error: unknown): boolean {
  return error instanceof KubeError && error.reason === 'AlreadyExists'
}

function fenced({ fence, data }: NewPart): Record<string, string> {
  return { [FENCE_KEY]: fence, ...data }
}

async function sendPart(part: NewPart, { client, namespace }: LedgerOptions, assertOwned: AssertOwned): Promise<void> {
  const { run, chunk, workloads } = part
  const annotations = workloads ? { annotations: { [WORKLOADS_ANNOTATION]: workloads.join(',') } } : {}
  const metadata = { name: chunkName(run, chunk), namespace, labels: { [LEDGER_LABEL]: run }, ...annotations }
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: fenced(part) }
  // The process can stall during the request or the one before, so the Lease is checked right before each try.
  await assertOwned()
  await client.create(pathOfPart(namespace), body, { beforeAgain: assertOwned })
}
