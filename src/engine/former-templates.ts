import { formerTemplate } from '../journal/former-template.ts'
import type { Ledger } from '../journal/ledger.ts'
import { asksFor } from '../pods/baseline.ts'
import { messageOf } from './errors.ts'
import type { RunEventBody } from './events.ts'
import type { AssessedWorkload } from './planning.ts'
import type { World } from './world.ts'

interface FormerTemplates {
  ledger: Ledger
  world: World
  tell(event: RunEventBody): void
}

/**
 * After a rollback: templates that this run has changed get their former images back, or the next pod that is
 * rescheduled comes up on those that have just failed. Not where a pod is upgraded already: it would come back on the
 * old ones.
 */
export async function putTemplatesBack({ ledger, world, tell }: FormerTemplates): Promise<void> {
  for (const assessed of world.workloads) {
    const { ref, uid } = assessed.workload
    const recorded = ledger.header.workloads.find((one) => one.uid === uid)
    if (recorded?.before === undefined) continue
    const name = `${ref.kind.toLowerCase()}/${ref.name}`
    const upgraded = upgradedPods(assessed, world)
    if (upgraded > 0) {
      const message = `the template of ${name} keeps the new images: ${upgraded} of its pods run them; sluice undo takes them back`
      tell({ type: 'warning', message })
      continue
    }
    try {
      const former = formerTemplate(ledger, recorded)
      const onProgress = (message: string): void => tell({ type: 'template', workload: name, message })
      // Nothing is left to interrupt: the pods are at their end.
      const { signal } = new AbortController()
      const put = await assessed.workload.putBack(former, ledger.header.images, { signal, onProgress })
      if (put.kind === 'left') tell({ type: 'warning', message: put.message })
      else onProgress(`back to its former images: ${former.map(({ container, image }) => `${container}=${image}`).join(', ')}`)
    } catch (error) {
      const message = `the template of ${name} could not be put back to its former images: ${messageOf(error)}`
      tell({ type: 'warning', message })
    }
  }
}

/** Of all its pods, also those that the request was not about. */
function upgradedPods({ workload, assessment: { images } }: AssessedWorkload, { store }: World): number {
  return [...store.all()].filter(({ pod }) => !pod.deleting && workload.owns(pod) && asksFor(pod, images)).length
}
