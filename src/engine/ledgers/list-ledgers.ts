import type { LedgerPart, ReadLedger } from '../../journal/ledger.ts'
import { LEDGER_LABEL, readLedgers, WORKLOADS_ANNOTATION } from '../../journal/ledger.ts'
import type { KubeClient } from '../../kube/client.ts'
import { listPages } from '../../kube/list-pages.ts'
import { pathOfPart, RawConfigMap } from './create-part.ts'

/** Lists all parts of the ledgers of a namespace, by one paged LIST. */
export async function listLedgerParts(client: KubeClient, namespace: string): Promise<LedgerPart[]> {
  const { items } = await listPages({ client, path: pathOfPart(namespace), selectors: { labelSelector: LEDGER_LABEL } })
  return items.map((raw) => {
    const { metadata, data } = RawConfigMap.parse(raw)
    const { name, labels, annotations, resourceVersion: version } = metadata
    const workloads = annotations?.[WORKLOADS_ANNOTATION]?.split(',') ?? []
    return { name, run: labels?.[LEDGER_LABEL] ?? '', workloads, data: data ?? {}, version }
  })
}

export async function listLedgers(client: KubeClient, namespace: string): Promise<ReadLedger[]> {
  return readLedgers(await listLedgerParts(client, namespace))
}
