import type { PodWaits } from '../../reasons/pod-waits.ts'
import { cause, seconds, type WordsOf } from './writing.ts'
import { nodeSilent, terminating } from './pod-facts.ts'

/** The words for the conditions that a pod waits for. */
export const podWaits: WordsOf<PodWaits> = {
  'takes-over-record': () => 'an earlier owner has left it open',
  'tries-again': ({ because }, write) => `${write.reason(because)} (tried again)`,
  settling: () => 'settling',
  'in-flight': ({ requests }) => `${requests} in flight`,
  'kubelet-has-not-seen-patch': ({ silentNode }) =>
    `the kubelet has not seen the patch yet${silentNode === undefined ? '' : `: ${nodeSilent(silentNode)}`}`,
  'container-not-up': () => 'seen by the kubelet; the new container is not up yet',
  'quiet-time': ({ quietMs }) =>
    `the new container runs, and nothing but time proves what it was started from: no change of a container for ${seconds(quietMs)}`,
  'ready-for': ({ floorMs }) => `ready, for ${floorMs === undefined ? 'readyFor' : `minReadySeconds (${seconds(floorMs)})`}`,
  unprobed: () => 'ready, says a restarted kubelet that has probed nothing yet: a probe has time to fail',
  'late-call': () => 'whether a call that nobody answered still arrives',
  'not-ready-to-be-put-back': () => 'not ready to be put back',
  'image-in-doubt': ({ pod, container, image, runs, quietMs }) =>
    `${pod}'s container ${container} runs ${runs ?? 'an image without a name'}, and its spec asks for ${image}: put back once there is no change of a container for ${seconds(quietMs)}`,
  'replacement-not-ready': ({ replacement }) => `${replacement} in its place is not known to be ready`,
  'awaits-end-of-pod': ({ pod, ...deletion }) => `${pod} ${terminating(deletion)}; then a pod in its place`,
  'awaits-replacement': ({ address }) =>
    `a pod in its place, at ${address ?? 'its address'} or where its entry is pointed by then`,
  'replacement-came': ({ replacement, because }, write) => `${replacement} has come in its place${cause(because, write)}`,
  'awaits-settlement': ({ pod }) => `what was drained for ${pod} at its address is not settled yet`,
  'no-further-start': () => 'no further pod is started',
  'run-paused': ({ by }) => `paused by ${by}`,
  'cannot-watch': ({ workload }) => `${workload ?? 'the pods'} cannot be watched at this moment`,
  'looks-anew': ({ workload }) => `${workload ?? 'the pods'} ${workload === undefined ? 'are' : 'is'} being looked at anew`,
}
