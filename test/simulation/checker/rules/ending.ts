import { LEDGER, undoneRun } from '../ledgers.ts'
import type { Pod } from '../pods.ts'
import type { Process } from '../processes.ts'
import { isAbout } from '../processes.ts'
import type { Target } from '../targets.ts'
import { isHome } from '../targets.ts'
import type { Report } from '../violation.ts'
import type { World } from '../world.ts'

/** The ends of a pod that count as told to an operator. */
const FOR_A_PERSON = new Set(['failed', 'needsOperator', 'interrupted', 'conflict'])
/** The ends that only hand a pod on. A later process that ends as done has taken the pod, even if the pod is gone. */
const FOR_ANOTHER = new Set(['interrupted', 'conflict'])

/** I6, at the end of the history: each target is home and each journal closed, or an operator was told. */
export function judgeEnding(world: World, report: Report): void {
  if (world.calmAt === undefined) return
  const running = [...world.processes.values()].filter(({ isRunning }) => isRunning)
  if (running.length > 0) report('I6', `${running.map(({ name }) => name).join(', ')} never came to an end`)
  for (const target of world.targets.all.values()) judgeTarget(world, target, report)
  for (const pod of world.pods.alive()) judgePod(world, pod, report)
  judgeTemplates(world, report)
  judgeAborted(world, report)
  judgeLedgers(world, report)
}

function judgeTarget(world: World, target: Target, report: Report): void {
  const { key, state, entry, claims, late } = target
  if (state === undefined || isHome(target) || late === 'unseen') return
  const uid = claims.at(-1)?.uid
  const pod = uid === undefined ? undefined : world.pods.byUid.get(uid)
  // The target of a pod that is gone for good stays out, if no pod has come in its place, at this address or elsewhere.
  const isGone = pod === undefined || (pod.isGone && !hasHeir(world, pod))
  // The present pod at its address may have come after the end of the last process.
  const there = world.pods.at(state.address)
  const isLater = there !== undefined && there.createdAt > (lastExit(world)?.exit?.at ?? Infinity)
  if (isGone && (there === undefined || isLater)) return
  if (claims.some((claim) => isLeftOut(world, world.pods.byUid.get(claim.uid), target.drainEntry))) return
  // After the pod was home, a reload has restored the configured state. Or, on a balancer that cannot be read, an operator has ended a
  // maintenance that hid the restore.
  const isBeyond = target.by === 'reload' || (target.by === 'operator' && target.level === 'G0')
  const { journal } = pod ?? {}
  // The pod may be home for a while before its journal is closed, and a call may still arrive then.
  if (isBeyond && journal?.step === 'closed' && (journal.at < target.changedAt || (target.by === 'reload' && target.wasHome)))
    return
  // The process may have reported the target as out before the operator ended its maintenance.
  const changed = target.by === 'operator' && target.isDrained ? target.drainEntry : entry
  // A process that ended has reported its open calls. For a call that arrives after the sender was killed and the last process has ended,
  // the reports from before count.
  const sender = world.processes.get(target.sender ?? '')
  const about = lastExit(world, pod)?.exit
  const isLate = sender?.isRunning === false && sender.exit === undefined && changed > (about?.entry ?? Infinity)
  const since = isLate ? about!.entry : Math.min(changed, sender?.exit?.entry ?? Infinity)
  if (isNamed(world, since, { uid, names: [key, pod?.name, target.name] })) return
  report('I6', `${key} is left ${state.admin} with weight ${state.weight}, and nobody was told`, entry)
}

/**
 * Reports whether a process has said that the target stays out, since no pod was to come in its place. A pod that comes there later is put
 * back by no process, even where a process that was paused repeats the statement.
 */
function isLeftOut(world: World, pod: Pod | undefined, since: number): boolean {
  if (pod === undefined) return false
  const { uid, name, owner } = pod
  const { pods, processes, scenario } = world
  const heirs = pods.alive().filter((one) => one.name === name && one.owner === owner)
  return [...processes.values()].some((process) => {
    const told = lastWord(world, process, uid)
    if (!told?.leftOut || told.entry < since) return false
    // A pod that had just come may be unseen.
    return heirs.every(({ createdAt }) => createdAt > told.at - scenario.lagMs)
  })
}

/**
 * Returns the statement of a process about the pod at its end. For a killed process, its earlier statement counts once it has recorded the
 * end of the run, since no process continues that run.
 */
function lastWord(
  { ledgers }: World,
  { name, exit, told }: Process,
  uid: string,
): { at: number; entry: number; leftOut?: true } | undefined {
  const isOver = [...ledgers.values()].some(({ finishedBy, pods }) => finishedBy === name && pods.includes(uid))
  if (exit === undefined) return isOver ? told.get(uid) : undefined
  const own = exit.pods?.find((one) => one.uid === uid)
  return own && { at: exit.at, entry: exit.entry, ...(own.leftOut ? { leftOut: true } : {}) }
}

/** Reports whether a replacement with the name of the pod exists, as a StatefulSet makes it. */
function hasHeir({ pods }: World, { name, owner }: Pod): boolean {
  return pods.alive().some((one) => one.name === name && one.owner === owner)
}

function judgePod(world: World, pod: Pod, report: Report): void {
  const { uid, name, journal, isDeleting } = pod
  if (isDeleting) return
  const writer = world.processes.get(journal?.by ?? '')
  const last = lastExit(world)
  // A write of a killed process may arrive after the last process has ended: the reports from before count.
  const about = lastExit(world, pod)
  const isLate = writer?.isRunning === false && journal!.entry > (about?.exit?.entry ?? Infinity)
  // A process that ended has reported its open writes.
  const since = isLate ? about!.exit!.entry : Math.min(journal?.entry ?? 0, writer?.exit?.entry ?? Infinity)
  // A late drain intent stands for nothing: there was nothing before it, and a restore comes after a drain.
  const isOpen = journal !== undefined && journal.step !== 'closed' && !(isLate && journal.step === 'drain') && !world.isVoid(pod)
  if (isOpen && !isNamed(world, since, { uid, names: [name] }))
    report('I6', `the journal of ${name} is left open (${journal.step}), and nobody was told`, journal.entry)
  if (last && isOvertaken(world, last, pod.patchedBy)) return
  if (last && !isAbout(last, pod)) return
  if (last) judgeUndone(world, pod, last, report)
  const told = last?.exit?.pods?.find((one) => one.uid === uid)
  for (const [container, image] of Object.entries(last?.wanted ?? {})) {
    const asked = pod.images[container]
    if (asked === undefined) continue
    const runs = pod.containers.get(container)?.image
    if (told?.outcome === 'upgraded' && runs !== image && !isHomeMeddled(world, pod))
      report(
        'I6',
        `${name} was said to be upgraded to ${image}, and its container ${container} runs ${runs ?? 'nothing'}`,
        last!.exit!.entry,
      )
    else if (told?.outcome === 'rolledBack' && runs === image)
      report('I6', `${name} was said to be rolled back, and its container ${container} runs ${image}`, last!.exit!.entry)
    else if (isOverlooked(last!, pod, told?.outcome) && asked !== image && !isMeddledAfter(pod, last!.startedAt))
      report('I6', `all was said to be done, and the container ${container} of ${name} is left on ${asked}`, last!.exit!.entry)
  }
}

/** After an undo, each image that the run has changed is again as it was when the pod was last home. */
function judgeUndone(world: World, pod: Pod, last: Process, report: Report): void {
  const { name, images, formerImages, tampered } = pod
  // After a foreign edit of the record, the images at home are unknown.
  if (!isDone(last) || asksForImages(last) || tampered > 0 || isMeddledAfter(pod, last.startedAt)) return
  const formers = formerImages.get(undoneRun(world) ?? '')?.images ?? []
  // No run knows the images of other containers, and an operator may have patched them before the run began.
  const asked = new Set([...world.processes.values()].flatMap(({ wanted = {} }) => Object.keys(wanted)))
  for (const container of Object.keys(formers[0] ?? {}).filter((one) => asked.has(one))) {
    const allowed = formers.map((former) => former[container])
    if (!allowed.includes(images[container]))
      report(
        'I6',
        `all was said to be undone, and the container ${container} of ${name} is on ${images[container]}, not ${allowed.join(' or ')} again`,
        last.exit!.entry,
      )
  }
}

/** Reports whether a process that began later has patched the object: a process that is stopped before its end may be overtaken. */
function isOvertaken({ processes }: World, last: Process, patchedBy: string | undefined): boolean {
  const patcher = processes.get(patchedBy ?? '')
  return patcher !== undefined && patcher.startedAt > last.startedAt
}

/** Reports whether the pod was home at a patch by hand, as far as the process could know. The patch then belongs to the operator. */
function isHomeMeddled({ scenario }: World, { meddled, closedAt = Infinity }: Pod): boolean {
  return meddled !== undefined && meddled.at > closedAt - scenario.watchMs
}

/** Reports whether the pod was patched by hand after `at`: a process that began before may have looked at it already. */
function isMeddledAfter({ meddled }: Pod, at: number): boolean {
  return meddled !== undefined && meddled.at > at
}

/** Reports whether a process asks for images. An undo does not. */
function asksForImages({ wanted = {} }: Process): boolean {
  return Object.keys(wanted).length > 0
}

/** Reports whether a process that ended as done has skipped or omitted a pod that was there at its start. */
function isOverlooked(process: Process, { createdAt, isFinished }: Pod, outcome: string | undefined): boolean {
  return isDone(process) && !isFinished && createdAt < process.startedAt && (outcome === undefined || outcome === 'skipped')
}

function isDone({ exit }: Process): boolean {
  return exit?.outcome?.startsWith('done') === true
}

/**
 * After an abort, with no later run, each template has the image from before the aborted runs. The image that all pods had is allowed too,
 * where the template had another one.
 */
function judgeAborted(world: World, report: Report): void {
  const last = [...world.processes.values()].findLast(({ exit }) => exit?.outcome?.startsWith('aborted'))
  const runs = abortedRuns(world)
  const [first] = runs
  if (last === undefined || first === undefined) return
  for (const [name, records] of world.templates) {
    const former = records.findLast(({ at }) => at <= first.at)?.images
    const now = records.at(-1)!.images
    for (const [container, image] of Object.entries(former ?? {})) {
      const allowed = [image, ...runs.flatMap(({ id }) => imageBefore(world, id, container))]
      if (!allowed.includes(now[container]!))
        report('I6', `all was said to be aborted, and the template of ${name} is left on ${now[container]}`, last.exit!.entry)
    }
  }
}

/**
 * Returns the aborted runs up to the newest run, back to the last other run that patched a template. Empty where the newest run was not
 * aborted.
 */
function abortedRuns({ ledgers }: World): { id: string; at: number }[] {
  const runs = Array.from(ledgers, ([name, ledger]) => ({ ...ledger, id: name.slice(LEDGER.length) }))
  if (runs.at(-1)?.aborted !== true) return []
  const others = runs.findLastIndex(({ aborted, hasSetTemplate }) => !aborted && hasSetTemplate)
  return runs.slice(others + 1).filter(({ aborted }) => aborted)
}

/** Returns the image of all pods, or of the pods of the run, before the run. Empty where they had different images. */
function imageBefore({ pods, ledgers }: World, run: string, container: string): string[] {
  const own = (ledgers.get(`${LEDGER}${run}`)?.pods ?? []).flatMap((uid) => pods.byUid.get(uid) ?? [])
  return [pods.alive(), own].flatMap((some) => {
    const former = some.flatMap(({ formerImages, homeImages }) => formerImages.get(run)?.images ?? homeImages)
    const images = new Set(former.map((each) => each[container]!))
    // A patch by hand in between may have been seen or not, so both images are allowed.
    return images.size === 1 || some.some(({ meddled }) => meddled !== undefined) ? [...images] : []
  })
}

/** After a run that is done, the templates have the wanted images, so that new pods come up on them. */
function judgeTemplates(world: World, report: Report): void {
  const last = lastExit(world)
  if (last === undefined || !isDone(last)) return
  for (const [name, records] of world.templates) {
    const { images, patchedBy } = records.at(-1)!
    if (isOvertaken(world, last, patchedBy)) continue
    for (const [container, image] of Object.entries(last.wanted ?? {}))
      if (images[container] !== undefined && images[container] !== image)
        report('I6', `all was said to be done, and the template of ${name} is left on ${images[container]}`, last.exit!.entry)
  }
}

/** A run that ends as done leaves no ledger open. */
function judgeLedgers(world: World, report: Report): void {
  const last = lastExit(world)
  if (last?.exit === undefined || !isDone(last) || last.part !== undefined || last.startedAt < world.calmAt!) return
  for (const [name, { finished, at, entry, isOrphan }] of world.ledgers) {
    // The write of a dead process may arrive after the end, or after the last process has looked. The next run closes that ledger.
    const isLate = entry > last.exit.entry || (isOrphan && at > last.startedAt)
    if (!finished && !isLate) report('I6', `${name} is left open after ${last.name} was done`, last.exit.entry)
  }
}

/** Reports whether a process that ended after `since` has named the pod or target for an operator, by uid or in words. */
function isNamed(
  world: World,
  since: number,
  { uid, names }: { uid: string | undefined; names: (string | undefined)[] },
): boolean {
  const last = lastExit(world)
  const isHandedOver =
    last !== undefined &&
    isDone(last) &&
    (last.part === undefined || names.some((name) => name !== undefined && last.part!.includes(name)))
  const handedOver = isHandedOver ? last.exit!.entry : -1
  // Each run continues the half-done pods that are present.
  const isThere = uid !== undefined && world.pods.byUid.get(uid)?.isGone === false
  return [...world.processes.values()].some(({ exit, isWord }) => {
    if (exit === undefined || isWord || exit.entry < since) return false
    const stands = ({ outcome }: { outcome: string }): boolean =>
      FOR_A_PERSON.has(outcome) && !((isThere || FOR_ANOTHER.has(outcome)) && exit.entry < handedOver)
    const own = exit.pods?.filter((pod) => pod.uid === uid) ?? []
    if (own.some(stands)) return true
    const words = [exit.outcome ?? '', ...(exit.pods ?? []).filter(stands).map(({ reason }) => reason)]
    return names.some((name) => name !== undefined && words.some((text) => text.includes(name)))
  })
}

/** Returns the process that ended last, among the processes about `pod` where it is given. */
function lastExit({ processes }: World, pod?: Pod): Process | undefined {
  return [...processes.values()]
    .filter((process) => process.exit && (pod === undefined || isAbout(process, pod)))
    .sort((a, b) => a.exit!.entry - b.exit!.entry)
    .at(-1)
}
