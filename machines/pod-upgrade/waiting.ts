import type { PodView } from '../../src/pods/glossary.ts'
import type { PodContext } from './context.ts'
import { awaitsQuiet } from '../../src/pods/witness.ts'
import { goalUnprobedMs, isHeirRestless, isRestless, misnamed, notReadyReason, quietMs, restartTroubleOf } from './facts.ts'
import { deletionWords, silentNode } from '../../src/pods/readiness.ts'

const LATE_CALL = 'whether a call that nobody answered still arrives'
const UNPROBED = 'ready, says a restarted kubelet that has probed nothing yet: a probe has time to fail'

/** What a pod waits for now, in words; empty where it waits for an answer only. `readyFor` names what says for how long it has to be ready. */
export function waitingFor(state: string, context: PodContext, readyFor = 'readyFor'): string {
  const { traffic, trouble, heir, pod, address, passedOver } = context
  const held = trouble === undefined ? '' : `${trouble} (tried again)`
  switch (state) {
    case 'claiming':
      return held === '' ? 'an earlier owner has left it open' : held
    case 'emptying':
      if (traffic === undefined) return 'settling'
      return traffic.state === 'out' ? (traffic.inFlight === null ? 'settling' : `${traffic.inFlight} in flight`) : traffic.detail
    case 'patching':
      return traffic?.state === 'out' && traffic.inFlight && !passedOver ? `${traffic.inFlight} in flight` : held
    case 'restarting':
      return restartTroubleOf(context)?.reason ?? restartWords(context)
    case 'warming':
      return (
        notReadyReason(context) ??
        (goalUnprobedMs(context) > 0 ? UNPROBED : context.lateCall ? LATE_CALL : `ready, for ${readyFor}`)
      )
    case 'readmitting':
      if (!pod.ready) return 'not ready to be put back'
      return context.lateCall ? LATE_CALL : isRestless(context) ? doubtWords(context, pod) : held
    case 'closing':
      return context.lateCall ? LATE_CALL : held
    case 'settling':
      if (heir?.isReady && isHeirRestless(context)) return doubtWords(context, heir.pod)
      if (heir) return heir.isReady ? held : `${heir.pod.name} in its place is not known to be ready`
      if (traffic?.state === 'unknown') return traffic.detail
      if (pod.deletion && !context.gone) return `${pod.name} ${deletionWords(pod.deletion)}; then a pod in its place`
      // Found by trial: a pod was there, at another address, and nobody could see what was waited for; or why that could not be seen.
      // Where its entry is pointed is asked once a pod has come to another address: until then it may be stale here.
      return `a pod in its place, at ${address ?? pod.ip ?? 'its address'} or where its entry is pointed by then`
    default:
      return held
  }
}

function restartWords(context: PodContext): string {
  const { restart, pod } = context
  if (!restart?.seen) return `the kubelet has not seen the patch yet${pod.nodeIsSilent ? `: ${silentNode(pod)}` : ''}`
  if (!awaitsQuiet(restart, pod)) return 'seen by the kubelet; the new container is not up yet'
  return `the new container runs, and nothing but time proves what it was started from: ${unchangedFor(context)}`
}

/** Somebody may have patched it a moment ago, and the kubelet be about to replace what is ready. */
function doubtWords(context: PodContext, pod: PodView): string {
  const { name, image, statusImage } = misnamed(pod)!
  return `${pod.name}'s container ${name} runs ${statusImage ?? 'an image without a name'}, and its spec asks for ${image}: put back once there is ${unchangedFor(context)}`
}

function unchangedFor(context: PodContext): string {
  return `no change of a container for ${quietMs(context) / 1000} s`
}
