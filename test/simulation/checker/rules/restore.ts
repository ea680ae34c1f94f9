import type { LedgerEntry } from '../ledgers.ts'
import type { Pod } from '../pods.ts'
import type { Report } from '../violation.ts'
import type { World } from '../world.ts'
import { isMeddledSince, judgeMeddledRestore } from './by-hand.ts'

/**
 * I3: judges the restore intent of a pod, which was just stored. The intent was decided when it left, and may have been long on its way.
 */
export function judgeRestore(world: World, pod: Pod, leftAt: number, report: Report): void {
  if (pod.isDeleting || pod.isGone) report('I3', `${pod.name} is to be put back, and is being deleted`)
  judgeReady(world, pod, leftAt, report)
  if (pod.patch !== undefined && isMeddledSince(pod, pod.patch.entry)) return judgeMeddledRestore(pod, report)
  for (const name of pod.patch?.containers ?? []) {
    const container = pod.containers.get(name)
    // The pod was patched back before its container ended: the running container has the wanted image.
    const isWanted = container?.image === pod.images[name] && container?.down === undefined
    if (container === undefined || (container.startedAt < pod.patch!.entry && !isWanted))
      report(
        'I3',
        `${pod.name} is to be put back with the container ${name} that ran before the patch`,
        pod.patch!.entry,
        container?.startedAt,
      )
    else if (!isSaidReady(pod, container))
      report('I3', `${pod.name} is to be put back, and its container ${name} was never said to be ready`, container.startedAt)
    else if (container.image !== pod.images[name])
      report('I3', `${pod.name} is to be put back on ${container.image}, not on ${pod.images[name]}`, container.startedAt)
  }
}

/** I3: a target of a pod that is gone may be restored for the pod in its place, in the state of that pod when the intent left. */
export function judgeHeir(world: World, uid: string, { owner, targets }: LedgerEntry, leftAt: number, report: Report): void {
  for (const { balancer, target, address, untouched } of targets) {
    if (untouched || address === undefined) continue
    const key = `${balancer}/${target}`
    // A pod that has just gone may not be known as gone, and its successor may not be known as present.
    const heirs = world.pods.lately(address, leftAt - world.scenario.lagMs).filter((pod) => pod.uid !== uid)
    const found = heirs.map((heir) => {
      const wrong: Parameters<Report>[] = []
      const note: Report = (...what) => void wrong.push(what)
      if (owner !== undefined && !isSameOwner(heir.owner, owner))
        note('I3', `${key} of ${owner} is to be put back for ${heir.name} of ${heir.owner ?? 'nobody'}`)
      judgeReady(world, heir, leftAt, note)
      return wrong
    })
    if (found.length === 0) report('I3', `${key} is to be put back, and no pod has come to ${address}`)
    else if (found.every((wrong) => wrong.length > 0)) for (const wrong of found.at(-1)!) report(...wrong)
  }
}

/**
 * Reports whether the API has shown this container as ready, or another container since the patch. A newer container may have taken its
 * place, unknown to the API.
 */
function isSaidReady({ saidReady, starts, patch }: Pod, { id }: { id: string }): boolean {
  return saidReady.has(id) || [...saidReady].some((one) => (starts.get(one) ?? -1) > patch!.entry)
}

/** Compares owners. The ReplicaSets of a Deployment differ in the last part of their names. */
function isSameOwner(a: string | undefined, b: string): boolean {
  const deployment = (owner: string): string => (owner.startsWith('ReplicaSet/') ? owner.replace(/-[^-]*$/, '') : owner)
  return a !== undefined && deployment(a) === deployment(b)
}

/** Judges Ready, which may have been read a while ago: it does not guard the write. */
function judgeReady({ scenario }: World, { name, ready, readySince, saidReady }: Pod, at: number, report: Report): void {
  if (!ready && at - readySince > scenario.lagMs)
    report('I3', `${name} is to be put back, and has not been ready for ${at - readySince} ms`)
  if (saidReady.size === 0) report('I3', `${name} is to be put back, and was never ready`)
}
