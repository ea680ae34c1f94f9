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
 * The dry run of the pods that will start at once: admission refuses before anything is touched, templates included.
 * The others have theirs when their turn comes, which may be hours later.
 * @returns the uids of those that were accepted
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
  /** Where a run before may have sent another template. */
  fence?: string | undefined
  tell(event: RunEventBody): void
}

/** Brings the templates to the images, and the label of pods that run them already to the new revision. */
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
 * A pod that runs the images already, patched by hand perhaps, only lacks the label that its owner counts by. Found by reading: of
 * many, one after the other, nothing ended it after an interrupt, and the last ones got the label of a revision that another owner
 * had replaced meanwhile.
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
