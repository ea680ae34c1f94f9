import type { Target } from '../../../adapters/contract.ts'
import type { RelocateAnswer } from '../../../machines/pod-upgrade/ports.ts'
import type { JournalTarget } from '../../pods/glossary.ts'
import { messageOf } from '../errors.ts'
import type { Balancers } from './balancers.ts'
import type { Listener, Where } from './find-targets.ts'
import { findTargets } from './find-targets.ts'
import { plain } from './target-key.ts'

/** Does a pod that has a new address still have the entries that were drained for it? */
export async function relocate(
  { balancers, ...where }: Where & { balancers: Balancers },
  pod: Listener,
  targets: readonly JournalTarget[],
): Promise<RelocateAnswer> {
  try {
    const [found] = await findTargets(where, [pod])
    if (!found!.found)
      return { kind: 'elsewhere', message: `at its new address ${pod.ip ?? ''} it is in no load balancer: ${found!.reason}` }
    const now = found!.targets
    const renamed = targets.map((before): JournalTarget | undefined => {
      const { entryOf = ({ id }: Target) => id } = balancers.adapterOf(before.loadBalancer)
      const same = now.find(
        ({ loadBalancer, target }) =>
          loadBalancer === before.loadBalancer && target.scope === before.scope && entryOf(target) === entryOf(plain(before)),
      )
      return same && { ...before, target: same.target.id }
    })
    const kept = renamed.filter((target) => target !== undefined)
    if (kept.length === targets.length && now.length === kept.length)
      return { kind: 'same', address: pod.ip ?? '', targets: kept }
    const names = now.map(({ loadBalancer, target }) => `${loadBalancer}/${target.id}`)
    return {
      kind: 'elsewhere',
      message: `at its new address ${pod.ip ?? ''} it is ${names.length === 0 ? 'in no load balancer' : names.join(', ')}`,
    }
  } catch (error) {
    return { kind: 'unknown', message: messageOf(error) }
  }
}
