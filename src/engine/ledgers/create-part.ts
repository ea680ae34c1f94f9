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

/** Throws where this process has the Lease no more: after a stall another may have it. */
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
  /** Of a ledger that is about to begin. */
  workloads?: readonly string[]
  /** Without the fence. */
  data: Record<string, string>
}

/** The name is this run's alone, so where the answer was lost, "exists already" means that it is written. */
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
 * One that a ledger is to get: who was killed before the header said so may have left it there, with what was to be in it then.
 * Nothing was drained by that, and nothing of it stays: a pod that has gone since would be settled by it.
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
  // Found by simulation: the process was stopped until the answer was given up, and another had the workload meanwhile. Found by
  // reading: or until that of the part before had come.
  await assertOwned()
  await client.create(pathOfPart(namespace), body, { beforeAgain: assertOwned })
}
