import type { PodView } from '../../src/pods/glossary.ts'
import { silentNodeOf } from '../../src/pods/readiness.ts'
import { awaitsQuiet } from '../../src/pods/witness.ts'
import type { Reason, ReasonOf } from '../../src/reasons/reason.ts'
import type { PodContext } from './context.ts'
import { goalUnprobedMs, isHeirRestless, isRestless, misnamed, notReadyReason, quietMs, restartTroubleOf } from './facts.ts'

const LATE_CALL = { code: 'late-call' } as const

/**
 * The reason for which a pod waits now. Undefined where the pod waits only for an answer. `minReadyMs` is given where the `minReadySeconds`
 * of the workload are longer than `readyFor`.
 */
export function waitingFor(state: string, context: PodContext, floor: { minReadyMs?: number } = {}): Reason | undefined {
  const { traffic, trouble, heir, pod, address, passedOver } = context
  const held: Reason | undefined = trouble && { code: 'tries-again', because: trouble }
  switch (state) {
    case 'claiming':
      return held ?? { code: 'takes-over-record' }
    case 'emptying':
      if (traffic === undefined) return { code: 'settling' }
      if (traffic.state !== 'out' || (traffic.emptying && !traffic.inFlight)) return traffic.detail
      return traffic.inFlight === null ? { code: 'settling' } : { code: 'in-flight', requests: traffic.inFlight }
    case 'patching':
      return traffic?.state === 'out' && traffic.inFlight && !passedOver
        ? { code: 'in-flight', requests: traffic.inFlight }
        : held
    case 'restarting':
      return restartTroubleOf(context)?.reason ?? restartWait(context)
    case 'warming':
      if (notReadyReason(context)) return notReadyReason(context)
      if (goalUnprobedMs(context) > 0) return { code: 'unprobed' }
      if (context.lateCall) return LATE_CALL
      return { code: 'ready-for', ...(floor.minReadyMs === undefined ? {} : { floorMs: floor.minReadyMs }) }
    case 'readmitting':
      if (!pod.ready) return { code: 'not-ready-to-be-put-back' }
      return context.lateCall ? LATE_CALL : isRestless(context) ? imageDoubt(context, pod) : held
    case 'closing':
      return context.lateCall ? LATE_CALL : held
    case 'settling':
      if (heir?.isReady && isHeirRestless(context)) return imageDoubt(context, heir.pod)
      if (heir) return heir.isReady ? held : { code: 'replacement-not-ready', replacement: heir.pod.name }
      if (traffic?.state === 'unknown') return traffic.detail
      if (pod.deletion && !context.gone) return { code: 'awaits-end-of-pod', pod: pod.name, ...pod.deletion }
      // The entry's current address is asked for only after a pod has come to another address. Until then the known address may be stale.
      return { code: 'awaits-replacement', ...at(address ?? pod.ip) }
    default:
      return held
  }
}

function at(address: string | undefined): { address?: string } {
  return address === undefined ? {} : { address }
}

function restartWait(context: PodContext): ReasonOf<'kubelet-has-not-seen-patch' | 'container-not-up' | 'quiet-time'> {
  const { restart, pod } = context
  if (!restart?.seen) return { code: 'kubelet-has-not-seen-patch', ...silentNodeOf(pod) }
  if (!awaitsQuiet(restart, pod)) return { code: 'container-not-up' }
  return { code: 'quiet-time', quietMs: quietMs(context) }
}

/** Another writer may have patched the pod a moment ago, so that the kubelet is about to replace a ready container. */
function imageDoubt(context: PodContext, pod: PodView): ReasonOf<'image-in-doubt'> {
  const { name, image, statusImage } = misnamed(pod)!
  const runs = statusImage === undefined ? {} : { runs: statusImage }
  return { code: 'image-in-doubt', pod: pod.name, container: name, image, ...runs, quietMs: quietMs(context) }
}
