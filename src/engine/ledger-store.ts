import { z } from 'zod'
import type { KubeClient } from '../kube/client.ts'
import { KubeError } from '../kube/errors.ts'
import { listPages } from '../kube/list-pages.ts'
import type { Ledger, LedgerEntry, LedgerHeader, ReadLedger } from '../journal/ledger.ts'
import { HEADER_KEY, LEDGER_LABEL, chunkName, ledgerChunks, readLedgers, writeEntry, writeHeader } from '../journal/ledger.ts'

const RawConfigMap = z.object({ metadata: z.object({ name: z.string() }), data: z.record(z.string(), z.string()).nullish() })

function path(namespace: string, name?: string): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/configmaps${name === undefined ? '' : `/${encodeURIComponent(name)}`}`
}

/** One ConfigMap that is a ledger or a part of one. */
export interface LedgerPart {
  name: string
  data: Record<string, string>
}

/** All ledgers of a namespace in their parts: one LIST, paged. */
export async function listLedgerParts(client: KubeClient, namespace: string): Promise<LedgerPart[]> {
  const { items } = await listPages({ client, path: path(namespace), selectors: { labelSelector: LEDGER_LABEL } })
  return items.map((raw) => {
    const { metadata, data } = RawConfigMap.parse(raw)
    return { name: metadata.name, data: data ?? {} }
  })
}

export async function listLedgers(client: KubeClient, namespace: string): Promise<ReadLedger[]> {
  return readLedgers(await listLedgerParts(client, namespace))
}

/** The ledger of one run, as it is written by its owner alone. */
export interface LedgerStore {
  readonly ledger: Ledger
  /** Adds or replaces one entry; nothing is written where it is the same. Rejects with a KubeError. */
  put(entry: LedgerEntry): Promise<void>
  /** Nothing is open any more; `aborted` where an order has ended it. */
  finish(at: string, aborted?: LedgerHeader['aborted']): Promise<void>
}

export interface LedgerOptions {
  client: KubeClient
  namespace: string
}

/** Writes a new ledger: the chunks first, the header last, so that one without a header means that nothing began. */
export async function createLedger(ledger: Ledger, { client, namespace }: LedgerOptions): Promise<LedgerStore> {
  const chunks = ledgerChunks(ledger)
  const chunkOf = new Map<string, number>()
  chunks.forEach((data, chunk) => Object.keys(data).forEach((uid) => chunkOf.set(uid, chunk)))
  for (let chunk = chunks.length - 1; chunk >= 0; chunk--) {
    await createPart({ run: ledger.header.run, chunk, data: chunks[chunk]! }, { client, namespace })
  }
  return ledgerStore({ header: { ...ledger.header, chunks: chunks.length }, entries: ledger.entries }, chunkOf, {
    client,
    namespace,
  })
}

interface NewPart {
  run: string
  chunk: number
  data: Record<string, string>
}

/** The name is this run's alone, so where the answer was lost, "exists already" means that it is written. */
async function createPart({ run, chunk, data }: NewPart, { client, namespace }: LedgerOptions): Promise<void> {
  const metadata = { name: chunkName(run, chunk), namespace, labels: { [LEDGER_LABEL]: run } }
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }
  try {
    await client.create(path(namespace), body)
  } catch (error) {
    if (!(error instanceof KubeError) || error.kind !== 'ambiguous') throw error
    await client.create(path(namespace), body).catch((second: unknown) => {
      if (!(second instanceof KubeError) || second.reason !== 'AlreadyExists') throw second
    })
  }
}

/** Goes on with a ledger that an earlier owner has written. */
export function resumeLedger({ ledger, places }: Extract<ReadLedger, { kind: 'read' }>, options: LedgerOptions): LedgerStore {
  return ledgerStore(ledger, places.chunkOf, options)
}

function ledgerStore(ledger: Ledger, chunkOf: Map<string, number>, { client, namespace }: LedgerOptions): LedgerStore {
  const { run, chunks } = ledger.header

  async function set(chunk: number, key: string, value: string): Promise<void> {
    try {
      await client.patch(path(namespace, chunkName(run, chunk)), [{ op: 'add', path: `/data/${key}`, value }])
    } catch (error) {
      if (!(error instanceof KubeError) || error.status !== 404) throw error
      // Somebody has deleted it. For pods that are gone it is the only record, and all of it is known here.
      await createPart({ run, chunk, data: { ...dataOf(chunk), [key]: value } }, { client, namespace })
    }
  }

  function dataOf(chunk: number): Record<string, string> {
    const data: Record<string, string> = chunk === 0 ? { [HEADER_KEY]: writeHeader(ledger.header) } : {}
    for (const entry of ledger.entries.values()) if (chunkOf.get(entry.uid) === chunk) data[entry.uid] = writeEntry(entry)
    return data
  }

  return {
    ledger,
    async put(entry) {
      const before = ledger.entries.get(entry.uid)
      if (before && writeEntry(before) === writeEntry(entry)) return
      const chunk = chunkOf.get(entry.uid) ?? chunks - 1
      await set(chunk, entry.uid, writeEntry(entry))
      chunkOf.set(entry.uid, chunk)
      ledger.entries.set(entry.uid, entry)
    },
    async finish(at, aborted) {
      ledger.header = { ...ledger.header, finishedAt: at, ...(aborted ? { aborted } : {}) } satisfies LedgerHeader
      await set(0, HEADER_KEY, writeHeader(ledger.header))
    },
  }
}

/** Removes every part of a ledger: the header first, so that what is left of a half removal is no ledger. */
export async function deleteLedger(header: Pick<LedgerHeader, 'run' | 'chunks'>, options: LedgerOptions): Promise<void> {
  for (let chunk = 0; chunk < header.chunks; chunk++) await deletePart(chunkName(header.run, chunk), options)
}

export async function deletePart(name: string, { client, namespace }: LedgerOptions): Promise<void> {
  await client.delete(path(namespace, name)).catch((error: unknown) => {
    if (!(error instanceof KubeError) || error.status !== 404) throw error
  })
}
