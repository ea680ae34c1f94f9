import type { Command } from '../../reasons/command.ts'
import type { ReasonFields, ReasonOf } from '../../reasons/reason.ts'
import type { RefusalCode, Refusals, Subject, TemplateDrift } from '../../reasons/refusals.ts'
import { differencesList } from './template.ts'
import { imageWords } from './images.ts'
import { agreeing, cause, place, podNames, seconds, type WordsOf, type Writing } from './writing.ts'

function subject(of: Subject): string {
  return 'workload' in of ? of.workload : podNames(of.pods)
}

const slashed = (pods: readonly string[]): string => pods.map((name) => `pod/${name}`).join(', ')

function driftOf({ made, by }: Readonly<TemplateDrift>): string {
  if (by === undefined) return `a ${made} has no update of its own`
  return `a change of the template of a ${by} makes a new ${made}, which replaces every pod without a drain`
}

/** The subject of a template drift: the pods of an owner, or one of them. */
export function drifting({ pod, owner }: Readonly<TemplateDrift>): string {
  return pod === undefined ? owner : `pod/${pod} of ${owner}`
}

/** The images that stay, such as `app stays registry/app:v1`. */
export function stayingImages({ made, images: some }: Readonly<TemplateDrift>): string {
  return some.length === 0 ? `those of its ${made}` : some.map(({ container, image }) => `${container} stays ${image}`).join(', ')
}

function leftOpen({ run, pod, standing, traffic }: Readonly<ReasonFields['left-open']>, write: Writing): string {
  const detail = cause(traffic, write)
  const has = `run ${run} has left pod/${pod}`
  switch (standing) {
    case 'half-done':
      return `${has} half done`
    case 'not-asked':
      return `${has} half done, which this request does not ask for${detail}`
    case 'pod-gone':
      return `${has} drained, and that pod is gone${detail}`
    case 'pod-gone-unsure':
      return `run ${run} may have left pod/${pod} drained, and that pod is gone${detail}`
    case 'journal-lost':
      return (
        `pod/${pod}: it has no journal, was in rotation when run ${run} began, and is not now (${traffic === undefined ? '' : write.reason(traffic)}): ` +
        'an operator has it out, or its journal was removed after the drain'
      )
    case 'gone-for-good':
      return `run ${run} has left out of rotation what was drained for pod/${pod}, which is gone for good${detail}`
  }
}

function windowFull(facts: Readonly<Refusals['window-full']>, write: Writing): string {
  const { window, operator, operatorInPart, unserved, because, anyOut } = facts
  const named = (pods: readonly string[], how: string): string[] => (pods.length === 0 ? [] : [`${slashed(pods)}: ${how}`])
  const out = [
    ...named(operator, 'out of rotation by an operator'),
    ...named(operatorInPart, 'out of rotation in part by an operator'),
    ...named(unserved, `not in every load balancer (${because === undefined ? '' : write.reason(because)})`),
  ]
  return `${out.join('; ')}, so that with maxUnavailable ${window} ${anyOut ? 'no pod may leave rotation' : 'no other pod may leave'}`
}

const OWNERS = {
  'in-place-by-itself': {
    why: 'whose controller upgrades pods in place by itself, and would undo a patch of the pods',
    hint: ({ kind, name }: ReasonOf<'unsupported-owner'>['owner']) =>
      `Change the image in the template of ${kind} ${name}, and drain from its lifecycle hook (spec.lifecycle.inPlaceUpdate).`,
  },
  never: {
    why: 'whose pods run to completion: a restart would begin their work anew',
    hint: () => 'Change the image in the template; the next pods have it.',
  },
  'by-manifest': {
    why: 'so it is a static pod, of which the API server has a mirror only',
    hint: ({ name }: ReasonOf<'unsupported-owner'>['owner']) => `Change its manifest on the node ${name}.`,
  },
  unknown: {
    why: 'of which sluice does not know what it does to patched pods',
    hint: () =>
      'sluice upgrades pods without an owner, of StatefulSets and DaemonSets with the update strategy OnDelete, and of Deployments.',
  },
}

/** The words for the refusals of a plan. */
export const refusals: WordsOf<Refusals> = {
  'container-twice': ({ container }) => `an image for container ${container} was given twice`,
  'init-container': ({ of, container, known }) =>
    `${subject(of)}: container ${container} is an init container; only those of spec.containers can be upgraded (${known.join(', ')})`,
  'unknown-container': ({ of, container, known }) =>
    `${subject(of)}: there is no container ${container}; the containers are: ${known.join(', ')}`,
  'left-open': (facts, write) => leftOpen(facts, write),
  'load-balancer-dropped': ({ places, run, pods, workloads }) =>
    `the config does not have ${places.map(place).join(' and ')}, where run ${run} had ${pods === 1 ? 'a pod' : `${pods} pods`} of ${workloads.join(', ')} on record: ` +
    `${agreeing(pods, 'it', 'they')} would be upgraded without a drain there`,
  'min-ready-too-long': ({ workload, minReadyMs, readyDeadlineMs }) =>
    `${workload} has minReadySeconds ${minReadyMs / 1000}, which is not shorter than deadlines.ready (${seconds(readyDeadlineMs)})`,
  'no-address': ({ pod, because }, write) => `pod/${pod}: ${write.reason(because)}`,
  'no-image': ({ pod }) => `no image was given, and pod/${pod} has no workload with a template to take it from`,
  'no-pods': () => 'no pods match',
  'not-in-load-balancer': ({ pod, because }, write) => `pod/${pod}: ${write.reason(because)}`,
  'restart-policy': ({ pods, policy }) =>
    `${podNames(pods)}: the restart policy is ${policy}: where the new image cannot be pulled at once, ` +
    'the pod has come to its end for good, and nothing makes it anew',
  'revision-differs': ({ workload, pods, differences }) =>
    `${podNames(pods)}: the template of ${workload} differs from what they were made from in more than the images of this upgrade, and they would count as updated without it: ${differencesList(differences)}`,
  'revision-unknown': ({ workload, pods, revision }) =>
    `${podNames(pods)}: no ControllerRevision of ${workload} is known under the label controller-revision-hash (${revision ?? 'missing'}), so what else of the template would change cannot be told`,
  'rollout-in-progress': ({ workload, because }, write) =>
    `${workload} is in the middle of a rollout, which replaces pods: ${write.reason(because)}`,
  'template-drift': (drift) =>
    `${drifting(drift)} cannot be upgraded in place with its template: ${driftOf(drift)}. With the pods alone patched, every pod made later comes up on the images of the template (${stayingImages(drift)})`,
  'unreadable-journal': ({ pod, because }, write) => `pod/${pod}: ${write.reason(because)}`,
  'unsupported-owner': ({ pods, owner, upgrades }) =>
    `${podNames(pods)}: owned by ${owner.kind} ${owner.name} (${owner.apiVersion}), ${OWNERS[upgrades].why}`,
  'update-strategy': ({ workload, strategy }) =>
    `${workload} has the update strategy ${strategy}: its controller would delete and recreate the pods, ` +
    'without a drain, as soon as the template changes',
  'window-full': (facts, write) => windowFull(facts, write),
  'workload-deleting': ({ workload }) => `${workload} is being deleted`,
  'workload-gone': ({ workload }) => `${workload} was deleted meanwhile`,
  'workload-paused': ({ workload }) => `${workload} is paused: whoever resumes it may start a rollout that replaces the pods`,
}

/** How to correct a refusal: a hint, and a command on a line of its own. */
export interface WayOut {
  hint: string
  command?: Command
}

const MADE_ANEW = 'Run the same command again once it is made anew and its pods are ready.'
const COST = 'A pod that is deleted restarts without a drain, and may come back at another address.'
const BY_HAND = 'Put it back by hand if nobody wants it out, and run the same command again.'

function leftOpenWayOut({ standing, workloads, resolve }: Readonly<ReasonFields['left-open']>): WayOut {
  if (standing === 'journal-lost' || standing === 'gone-for-good') return { hint: BY_HAND }
  if (workloads === undefined)
    return { hint: 'The next run that can start goes on with it: mend what is refused here, and run the same command again.' }
  const goesOn = `Where no process is at work with it (sluice status), the same command with ${workloads.join(' ')} in place of the label goes on with it`
  if (resolve === undefined)
    return { hint: `${goesOn} once it has a pod; so does one with a pod of it (pod/NAME), which upgrades that pod alone.` }
  return {
    hint: `${goesOn} once a pod of that name is there again. Or put its entry right, or remove it, and say so:`,
    command: resolve,
  }
}

/** The way out of each refusal. */
export const waysOut: { [C in RefusalCode]: (facts: Readonly<Refusals[C]>) => WayOut } = {
  'container-twice': () => ({ hint: 'Give one image for each container.' }),
  'init-container': () => ({
    hint: 'An init container, native sidecars included, takes a new image when its pod is recreated.',
  }),
  'unknown-container': () => ({ hint: 'Name one of these: CONTAINER=IMAGE.' }),
  'left-open': leftOpenWayOut,
  'load-balancer-dropped': ({ loadBalancer, pods }) => ({
    hint:
      `Name it in the config as it was. Where it gets no requests for ${agreeing(pods, 'it', 'them')} any more, or has another name in the config now, say so: ` +
      `--retired-load-balancer ${loadBalancer}.`,
  }),
  'min-ready-too-long': ({ workload }) => ({
    hint: `No pod could be ready for that long in time: make deadlines.ready longer (--ready-deadline), or minReadySeconds of ${workload} shorter.`,
  }),
  'no-address': () => ({ hint: 'Wait until it has started, or see why it does not.' }),
  'no-image': () => ({ hint: 'Say which: CONTAINER=IMAGE.' }),
  'no-pods': () => ({ hint: 'Check the name or the selector, and the namespace.' }),
  'not-in-load-balancer': ({ isThere }) => ({
    hint: isThere
      ? 'Mend its entries in the load balancer, or mend the config.'
      : 'Add it to the load balancer, mend its entries there, or mend the config. Entries that name a Service, a NodePort of another ' +
        'node, or a proxy before the pods cannot be found. Only one that gets no requests from there may be upgraded without a drain, by ' +
        '--allow-unbalanced.',
  }),
  'restart-policy': () => ({
    hint: 'Make it again with the new image yourself; only pods with restartPolicy Always are upgraded in place.',
  }),
  'revision-differs': ({ images: more }) => ({
    hint:
      more === undefined
        ? `A pod takes such a change only when it is recreated: take it back in the template, or delete the pods to have it. ${COST}`
        : `Upgrade these images too: ${imageWords(more)}`,
  }),
  'revision-unknown': ({ workload, pods }) => ({
    hint: `Delete the ${agreeing(pods, 'pod to have it', 'pods to have them')} recreated from the template of ${workload}. ${COST}`,
  }),
  'rollout-in-progress': ({ watch }) => ({ hint: 'Wait for its end.', command: watch }),
  'template-drift': () => ({
    hint: 'Use a StatefulSet or DaemonSet with the update strategy OnDelete, or accept it: --accept-template-drift.',
  }),
  'unreadable-journal': ({ isOnRecord, resolve }) => ({
    hint: isOnRecord
      ? 'Where a newer sluice has written its journal (sluice.dev/journal), use that one. Else look at it, and at the load balancer, then say what you have seen there: ' +
        'that it gets no requests, or, with --traffic in, that it is in rotation as it should be.'
      : 'Where a newer sluice has written its journal (sluice.dev/journal), use that one. Else look at it, and at the load balancer. No run that is open says what it was before a drain: ' +
        'bring it into rotation by hand, and say so:',
    command: resolve,
  }),
  'unsupported-owner': ({ owner, upgrades }) => ({ hint: OWNERS[upgrades].hint(owner) }),
  'update-strategy': ({ change }) => ({
    hint: 'Change it. From then on a change of the template waits: the controller replaces a pod only after something deleted it.',
    command: change,
  }),
  'window-full': ({ unserved }) => ({
    hint:
      unserved.length === 0
        ? 'Put them back once they are ready, or raise maxUnavailable.'
        : 'Put them back or in once they are ready, or raise maxUnavailable.',
  }),
  'workload-deleting': () => ({ hint: MADE_ANEW }),
  'workload-gone': () => ({ hint: MADE_ANEW }),
  'workload-paused': ({ resume }) => ({ hint: 'Resume it, and run again once its rollout is over.', command: resume }),
}

/** How to correct the cause of a refusal. */
export function wayOutOf(refusal: ReasonOf<RefusalCode>): WayOut {
  return (waysOut[refusal.code] as (facts: ReasonOf<RefusalCode>) => WayOut)(refusal)
}
