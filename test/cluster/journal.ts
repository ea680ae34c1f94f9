import type { KubeApi, KubeObject } from './kube-api.ts'

/* The journal on a pod as anyone can see it: not by the code under test. */

const KEY = 'sluice.dev/journal'

/** What stands in either of its places. */
export function storedJournal({ metadata, status }: KubeObject): { annotation?: string; condition?: string } {
  const annotation = metadata.annotations?.[KEY]
  const condition = status?.conditions?.find(({ type }: KubeObject) => type === KEY)?.message
  return { ...(annotation === undefined ? {} : { annotation }), ...(condition === undefined ? {} : { condition }) }
}

/** Removes it from both, as `kubectl edit --subresource=status` does. */
export async function removeJournal(api: KubeApi, namespace: string, pod: string): Promise<void> {
  const patch = {
    metadata: { annotations: { [KEY]: null } },
    status: { conditions: [{ $patch: 'delete', type: KEY }] },
  }
  await api.patch('Pod', pod, namespace, patch, 'strategic', 'status')
}

/** The step of the record in force. */
export function journalStep(pod: KubeObject): string | undefined {
  const { annotation, condition } = storedJournal(pod)
  const text = annotation ?? condition
  return text === undefined ? undefined : JSON.parse(text).step
}
