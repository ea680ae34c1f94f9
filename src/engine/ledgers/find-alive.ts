import type { LedgerEntry } from '../../journal/ledger.ts'
import type { KubeClient } from '../../kube/client.ts'
import { isNotFound } from '../../kube/errors.ts'
import type { PodView } from '../../pods/glossary.ts'
import { podView } from '../../pods/view.ts'
import { podsPath } from '../../observation/pod-store.ts'

/**
 * Finds the pod of an entry, also where the selector of this run does not match it. Undefined where the pod is gone. Rejects with a
 * KubeError.
 */
export async function findAlive(client: KubeClient, namespace: string, { uid, pod }: LedgerEntry): Promise<PodView | undefined> {
  try {
    const found = podView(await client.get(podsPath(namespace, pod)))
    return found.uid === uid ? found : undefined
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}
