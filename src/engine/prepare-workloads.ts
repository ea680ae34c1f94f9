import type { KubeClient, PatchOperation } from '../kube/client.ts'
import { asksFor } from '../pods/baseline.ts'
import type { PodView } from '../pods/glossary.ts'
import { displayName } from '../pods/workload-id.ts'
import { reasonOf, RunError } from './errors.ts'
import type { RunEventBody } from './events.ts'
import { assertConfirmed } from './leases/confirm-all.ts'
import { rehearse } from './rollout/pod-ports.ts'
import { podsPath } from '../observation/pod-store.ts'
import type { World } from './world.ts'
import { isOpen } from '../pods/open-journal.ts'

interface PrepareOptions {
  world: World
  client: KubeClient
  namespace: string
}

/**
 * Sends the dry runs of the pods that will start at once, so that admission can refuse before any change, including templates. The other
 * pods have their dry run at their turn, which may be hours later.
 * @returns the uids of the accepted pods
 * @throws RunError of kind `preflight`
 */
export async function rehearseFirst({ world, client, namespace }: PrepareOptions): Promise<Set<string>> {
  const first = world
    .plan()
    .pods.filter(({ action }) => action === 'upgrade')
    .slice(0, world.plan().window)
  const accepted = new Set<string>()
  await Promise.all(
    first.map(async ({ uid }) => {
      const pod = world.store.get(uid)?.pod
      const assessed = pod && world.workloadOf(pod)
      if (!pod || !assessed) return
      const answer = await rehearse(client, namespace, pod, world.imagesFor(pod), [])
      if (answer.kind === 'refused') {
        throw new RunError('preflight', { code: 'patch-of-pod-refused', pod: pod.name, because: answer.reason })
      }
      if (answer.kind === 'accepted') accepted.add(uid)
    }),
  )
  return accepted
}

interface Preparing extends PrepareOptions {
  signal: AbortSignal
  isOwned(): Promise<boolean | undefined>
  /** The fence, where an earlier run may have sent another template. */
  fence?: string | undefined
  tell(event: RunEventBody): void
}

/** Sets the images in the templates, and the label of the new revision on pods that run them already. */
export async function prepareWorkloads(options: Preparing): Promise<void> {
  const { world, signal, isOwned, fence, tell } = options
  for (const { workload, assessment } of world.workloads) {
    await workload.prepare(assessment.images, {
      signal,
      isOwned,
      fence,
      onProgress: (reason) => tell({ type: 'template', workload: displayName(workload.ref), reason }),
    })
    for (const { pod, stored } of world.store.all()) {
      if (isOpen(stored) || pod.deleting || !workload.owns(pod) || !world.includes(pod)) continue
      if (asksFor(pod, assessment.images) && !workload.hasRevision(pod)) await label(pod, workload.podOperations(pod), options)
    }
  }
}

/**
 * Sets the revision label on a pod that already runs the images, for example after a manual patch. The Lease is confirmed for each pod,
 * since another owner may replace the revision while many pods are labelled.
 */
async function label(
  pod: PodView,
  operations: PatchOperation[],
  { world, client, namespace, signal, isOwned, tell }: Preparing,
): Promise<void> {
  signal.throwIfAborted()
  assertConfirmed(await isOwned())
  try {
    const guarded: PatchOperation[] = [{ op: 'test', path: '/metadata/uid', value: pod.uid }, ...operations]
    world.store.observe(await client.patch(podsPath(namespace, pod.name), guarded, { signal }))
  } catch (error) {
    signal.throwIfAborted()
    tell({ type: 'warning', pod: pod.name, reason: { code: 'revision-label-not-set', because: reasonOf(error) } })
  }
}
