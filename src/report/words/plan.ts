import type { PlanReasons } from '../../reasons/plan-reasons.ts'
import { standing as standingOf } from './pod-facts.ts'
import { drifting, stayingImages } from './refusals.ts'
import { imageWords } from './images.ts'
import { agreeing, cause, goneAndDrained, place, podNames, seconds, type WordsOf, type Writing } from './writing.ts'

function toUpgrade({ rotation, standing, lookedFor, waitsForNode }: Readonly<PlanReasons['to-upgrade']>, write: Writing): string {
  const waits = waitsForNode ? '; it waits for its node' : ''
  const looked = lookedFor.map((one) => write.reason(one)).join('; ')
  const how = standing === undefined ? '' : `, and ${standingOf(standing).slice('is '.length)}`
  if (rotation === 'kept') return `stays as it is in rotation${how}: drain.notFor names each container that changes${waits}`
  if (rotation === 'none') return `${looked === '' ? 'it was looked for in no load balancer' : looked}: no drain${waits}`
  const lacking = looked === '' ? '' : `; ${looked}: no drain there`
  if (rotation === 'operator') return `an operator has it out of rotation: it is left exactly so${lacking}${waits}`
  return `in rotation${how}${lacking}${waits}`
}

/** The words for the reasons and warnings of a plan. */
export const plan: WordsOf<PlanReasons> = {
  'goes-on-with-patch': () => 'an earlier run has drained it: goes on with the patch',
  'goes-on-from-patch': () => 'an earlier run has patched it: goes on from there',
  'goes-on-with-restore': () => 'an earlier run was putting it back: goes on from there',
  'goes-on-without-drain': ({ containers }) =>
    `an earlier run changes ${containers.join(' and ')} without a drain: that is ended first`,
  'goes-on-with-rollback': ({ images: former }) =>
    `an earlier run is rolling it back to ${imageWords(former)}: the same request ends that, another goes on to its own images`,
  'no-container': ({ container }) => `it has no container ${container}`,
  'not-of-undone-run': ({ run }) => `run ${run} had nothing to do with it: it stays as it is`,
  'to-upgrade': toUpgrade,

  'not-in-every-load-balancer': ({ pod, stays, because }, write) =>
    `pod/${pod} ${stays ? 'stays as it is' : 'runs these images already'}, and is not in every load balancer${cause(because, write)}`,
  'awaits-person': ({ pod, entries: some, replacementAt, resolve }, write) => {
    return `${goneAndDrained(pod, some, replacementAt)} ${write.command(resolve)}`
  },
  'no-pod-can-start': ({ because }, write) =>
    `no pod can start now${cause(because, write)}; a run waits for that until deadlines.ready is over`,
  'min-ready-longer': ({ workload, minReadyMs }) =>
    `${workload} has minReadySeconds ${minReadyMs / 1000}: a pod is put back once it has been Ready for ${seconds(minReadyMs)}, since rollout.readyFor is shorter`,
  'part-of-workload': ({ workload, pods, replicas }) =>
    `${workload}: this run has ${pods} of its ${replicas} pods; ` +
    'the others keep their images until they are upgraded or recreated, and then get the new ones',
  'other-image-stays': ({ pods, workload, container, image, templateImage }) =>
    `${podNames(pods)}: container ${container} runs ${image} where the template of ${workload} has ${templateImage ?? 'no image'}; it is left as it is`,
  'template-unchanged': (drift) =>
    `${drifting(drift)}: its template is not changed; every pod made later comes up on its images (${stayingImages(drift)})`,
  'load-balancer-retired': ({ place: retired, run }) =>
    `nothing is drained in ${place(retired)}, which run ${run} has on record: it is retired, as --retired-load-balancer says`,
  'controller-behind': ({ generation, observed }) =>
    `its controller has not observed generation ${generation} yet (it is at ${observed})`,
  'pods-of-several': ({ made, names }) => `it has pods of ${names.length} ${made}s (${names.join(', ')})`,
  'pods-behind-template': ({ updated, replicas }) =>
    `${updated} of its ${replicas} pods ${agreeing(updated, 'is', 'are')} of its newest template`,
  'stays-on-release': ({ workload, pods, of, run, upgrade }, write) =>
    `${pods} of ${of} pods of ${workload} ${agreeing(pods, 'runs', 'run')} the images of run ${run} and ${agreeing(pods, 'stays', 'stay')} on them, ` +
    `since that had nothing to do with ${agreeing(pods, 'it', 'them')}${upgrade === undefined ? '' : `; once the template is back, ${write.command(upgrade)} brings ${agreeing(pods, 'it', 'them')} to that`}`,
  'released-since': ({ workload, pods, of, run }) =>
    `${pods} of ${of} pods of ${workload} ${agreeing(pods, 'runs', 'run')} neither the images of run ${run} nor those from ` +
    'before it: what has been released since is taken back with it',
  'nothing-to-take-back': ({ run, by, undo }, write) =>
    `nothing is left to take back of run ${run}, which was aborted by ${by}${undo === undefined ? '' : `; ${write.command(undo)} takes back the one before it`}`,
  'run-ordered': ({ run, order, by, command, exitWhenPaused }) => {
    const said = order === 'abort' ? 'is being aborted' : 'is paused'
    const does = command === 'upgrade' ? 'upgrades' : 'takes back'
    const waits = exitWhenPaused ? 'exits with 5' : 'waits'
    const then = order === 'abort' ? `ends it, and ${does} nothing` : `and ${waits} until sluice resume, or sluice abort`
    return `run ${run} ${said} (by ${by}): this ${command} goes on with it, ${then}`
  },
  'pause-left-behind': ({ run, by }) =>
    `run ${run} is paused (by ${by}): the pause does not hold for this request, which takes over what run ${run} has left open`,
  'orders-not-known': ({ because }, write) =>
    `something has been ordered of a run here, and which are open could not be asked${cause(because, write)}`,
  'lease-may-be-held': ({ lease, holder, command }) =>
    `the Lease ${lease} is held by ${holder}: where that is at work, an ${command} ends with exit code 7; ` +
    'where it was killed, one goes on with what it has left open',
  'rights-not-asked': ({ because }, write) =>
    `whether this user has the rights that a run needs cannot be asked for, so that one that is missing shows only when it is used${cause(because, write)} (the ClusterRole system:basic-user allows to ask)`,
  'rights-missing': ({ namespace, rights }) =>
    `not allowed in namespace ${namespace}: ${rights.join(', ')}; \`sluice rbac\` prints a Role with the rights that a run needs`,
  'deadline-shorter-than-job': ({ deadline, deadlineMs, loadBalancer, longestMs }) => {
    const longest = `${longestMs / 1_000}s`
    return (
      `${deadline} is ${deadlineMs / 1_000}s, and a change of the load balancer ${loadBalancer} may take ${longest} until it is done: ` +
      `make ${deadline} longer than ${longest}, or say that a change takes less (capabilities.longestJob of the adapter http, deregistrationDelay of aws-elbv2)`
    )
  },
  'deadline-shorter-than-settle': ({ deadline, deadlineMs, loadBalancer, settleMs }) =>
    `${deadline} is ${deadlineMs / 1_000}s, and new requests may come for ${settleMs / 1_000}s after a drain of the load balancer ${loadBalancer}: ` +
    `make ${deadline} longer, or say that it takes less (drain.settle, or of the adapter http and its presets: capabilities.settle)`,
}
