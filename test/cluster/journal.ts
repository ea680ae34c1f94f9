import type { KubeApi, KubeObject } from './kube-api.ts'

/* Reads the journal on a pod without the code under test. */

const KEY = 'sluice.dev/journal'

/** Returns the texts of the journal in both of its places. */
export function storedJournal({ metadata, status }: KubeObject): { annotation?: string; condition?: string } {
  const annotation = metadata.annotations?.[KEY]
  const condition = status?.conditions?.find(({ type }: KubeObject) => type === KEY)?.message
  return { ...(annotation === undefined ? {} : { annotation }), ...(condition === undefined ? {} : { condition }) }
}

/** Removes the journal from both places, as `kubectl edit --subresource=status` does. */
export async function removeJournal(api: KubeApi, namespace: string, pod: string): Promise<void> {
  const patch = {
    metadata: { annotations: { [KEY]: null } },
    status: { conditions: [{ $patch: 'delete', type: KEY }] },
  }
  await api.patch('Pod', pod, namespace, patch, 'strategic', 'status')
}

/** Returns the step of the present record. */
export function journalStep(pod: KubeObject): string | undefined {
  const { annotation, condition } = storedJournal(pod)
  const text = annotation ?? condition
  return text === undefined ? undefined : JSON.parse(text).step
}
