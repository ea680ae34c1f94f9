import { LEDGER, undoneRun } from '../ledgers.ts'
import type { Pod } from '../pods.ts'
import type { Process } from '../processes.ts'
import { isAbout } from '../processes.ts'
import type { Target } from '../targets.ts'
import { isHome } from '../targets.ts'
import type { Report } from '../violation.ts'
import type { World } from '../world.ts'

/** How a pod may end that is neither where it was nor silently lost. */
const FOR_A_PERSON = new Set(['failed', 'needsOperator', 'interrupted', 'conflict'])
/** Of these, what only hands it on: a later process that says that all is done has taken it, also of a pod that is gone. */
const FOR_ANOTHER = new Set(['interrupted', 'conflict'])

/** I6, at the end of the history: everything is home and closed, or a person was told. */
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
  // Of a pod that is gone for good, and in whose place nothing has come, there or elsewhere: it stays out.
  const isGone = pod === undefined || (pod.isGone && !hasHeir(world, pod))
  // Who has its address by now may have come when nobody was there any more who would look (harsh seed 9032717).
  const there = world.pods.at(state.address)
  const isLater = there !== undefined && there.createdAt > (lastExit(world)?.exit?.at ?? Infinity)
  if (isGone && (there === undefined || isLater)) return
  if (claims.some((claim) => isLeftOut(world, world.pods.byUid.get(claim.uid), target.drainEntry))) return
  // It was home, and a reload has made of it what is configured since (seed 65455). Or an operator whose maintenance hid the
  // restore has ended it, where nobody can read what that has become of (seed 3003712).
  const isBeyond = target.by === 'reload' || (target.by === 'operator' && target.level === 'G0')
  const { journal } = pod ?? {}
  // It may be home for a while before its journal is closed, where a call may still arrive (seed 51004057 of a search).
  if (isBeyond && journal?.step === 'closed' && (journal.at < target.changedAt || (target.by === 'reload' && target.wasHome)))
    return
  // That it is out by sluice may have been told before an operator ended his maintenance of it (seed 10010322).
  const changed = target.by === 'operator' && target.isDrained ? target.drainEntry : entry
  // A call that arrives when its process has ended: that one has said that it was under way. Or it was killed, and nobody was there
  // any more who would look: told is what was there before (seed 44778335).
  const sender = world.processes.get(target.sender ?? '')
  const about = lastExit(world, pod)?.exit
  const isLate = sender?.isRunning === false && sender.exit === undefined && changed > (about?.entry ?? Infinity)
  const since = isLate ? about!.entry : Math.min(changed, sender?.exit?.entry ?? Infinity)
  if (isNamed(world, since, { uid, names: [key, pod?.name, target.name] })) return
  report('I6', `${key} is left ${state.admin} with weight ${state.weight}, and nobody was told`, entry)
}

/**
 * It was said since that it stays out, for nothing was to come in its place: what has come there later is nobody's to put back,
 * also where another that was paused says so again when that is there (seed 44779323).
 */
function isLeftOut(world: World, pod: Pod | undefined, since: number): boolean {
  if (pod === undefined) return false
  const { uid, name, owner } = pod
  const { pods, processes, scenario } = world
  const heirs = pods.alive().filter((one) => one.name === name && one.owner === owner)
  return [...processes.values()].some((process) => {
    const told = lastWord(world, process, uid)
    if (!told?.leftOut || told.entry < since) return false
    // What had just come may not have been seen yet.
    return heirs.every(({ createdAt }) => createdAt > told.at - scenario.lagMs)
  })
}

/**
 * What it said of the pod at its end. Where it was killed before that, what it had told: once it has written that the run is over, nobody
 * goes on with it (harsh seed 10403730).
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

/** As a StatefulSet makes it. */
function hasHeir({ pods }: World, { name, owner }: Pod): boolean {
  return pods.alive().some((one) => one.name === name && one.owner === owner)
}

function judgePod(world: World, pod: Pod, report: Report): void {
  const { uid, name, journal, isDeleting } = pod
  if (isDeleting) return
  const writer = world.processes.get(journal?.by ?? '')
  const last = lastExit(world)
  // What one that was killed has sent may arrive when nobody is there any more who would look at the pod: told is what was
  // there before (harsh seed 5329957).
  const about = lastExit(world, pod)
  const isLate = writer?.isRunning === false && journal!.entry > (about?.exit?.entry ?? Infinity)
  // A write that arrives when its process has ended: that one has said that it was under way.
  const since = isLate ? about!.exit!.entry : Math.min(journal?.entry ?? 0, writer?.exit?.entry ?? Infinity)
  // Before an intent there was nothing (seed 11011550); what comes back was drained before (seed 21512968).
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

/** What a run has given other images is on those again that it had when it was home before, when that is taken back. */
function judgeUndone(world: World, pod: Pod, last: Process, report: Report): void {
  const { name, images, formerImages, tampered } = pod
  // Where somebody has edited its record nobody knows when it was home (seed 158).
  if (!isDone(last) || asksForImages(last) || tampered > 0 || isMeddledAfter(pod, last.startedAt)) return
  const formers = formerImages.get(undoneRun(world) ?? '')?.images ?? []
  // Of another one no run knows what it was on, and a person may have patched it before that began.
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

/** One that is stopped on its way out may have been overtaken by another wish (seeds 520855 and 3006430). */
function isOvertaken({ processes }: World, last: Process, patchedBy: string | undefined): boolean {
  const patcher = processes.get(patchedBy ?? '')
  return patcher !== undefined && patcher.startedAt > last.startedAt
}

/** It was home when somebody patched it, as far as whoever brought it home could know: that is his own. */
function isHomeMeddled({ scenario }: World, { meddled, closedAt = Infinity }: Pod): boolean {
  return meddled !== undefined && meddled.at > closedAt - scenario.watchMs
}

/** Whoever began before that may have looked at it already. */
function isMeddledAfter({ meddled }: Pod, at: number): boolean {
  return meddled !== undefined && meddled.at > at
}

/** An undo does not. */
function asksForImages({ wanted = {} }: Process): boolean {
  return Object.keys(wanted).length > 0
}

/** Found at the images already, or not spoken of at all, by a process that has done all: it was there when that began. */
function isOverlooked(process: Process, { createdAt, isFinished }: Pod, outcome: string | undefined): boolean {
  return isDone(process) && !isFinished && createdAt < process.startedAt && (outcome === undefined || outcome === 'skipped')
}

function isDone({ exit }: Process): boolean {
  return exit?.outcome?.startsWith('done') === true
}

/**
 * Where a run was ended by an order, and none has begun since, the template has what it had before that, and those ended with
 * it; or what all the pods had, where the template had something else then.
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

/** If the newest was: with those before it, as far back as no other run has patched a template in between. */
function abortedRuns({ ledgers }: World): { id: string; at: number }[] {
  const runs = Array.from(ledgers, ([name, ledger]) => ({ ...ledger, id: name.slice(LEDGER.length) }))
  if (runs.at(-1)?.aborted !== true) return []
  const others = runs.findLastIndex(({ aborted, hasSetTemplate }) => !aborted && hasSetTemplate)
  return runs.slice(others + 1).filter(({ aborted }) => aborted)
}

/** Of all pods, or of those that the run was about. None where they had different ones. */
function imageBefore({ pods, ledgers }: World, run: string, container: string): string[] {
  const own = (ledgers.get(`${LEDGER}${run}`)?.pods ?? []).flatMap((uid) => pods.byUid.get(uid) ?? [])
  return [pods.alive(), own].flatMap((some) => {
    const former = some.flatMap(({ formerImages, homeImages }) => formerImages.get(run)?.images ?? homeImages)
    const images = new Set(former.map((each) => each[container]!))
    // What somebody has patched in between may have been seen, or not.
    return images.size === 1 || some.some(({ meddled }) => meddled !== undefined) ? [...images] : []
  })
}

/** What comes anew comes up on what was asked for. */
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

/** A run that says "done" without a fault has nothing left in a ledger. */
function judgeLedgers(world: World, report: Report): void {
  const last = lastExit(world)
  if (last?.exit === undefined || !isDone(last) || last.part !== undefined || last.startedAt < world.calmAt!) return
  for (const [name, { finished, at, entry, isOrphan }] of world.ledgers) {
    // A dead process's write may arrive when all is done, or when the one that does it has looked: the next run closes it.
    const isLate = entry > last.exit.entry || (isOrphan && at > last.startedAt)
    if (!finished && !isLate) report('I6', `${name} is left open after ${last.name} was done`, last.exit.entry)
  }
}

/** Whether a process that ended after this said that it needs somebody, by uid or in words. */
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
  // Each run goes on with what it finds half done of the pods that are there.
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

/** Of those about `pod`, where one is given. */
function lastExit({ processes }: World, pod?: Pod): Process | undefined {
  return [...processes.values()]
    .filter((process) => process.exit && (pod === undefined || isAbout(process, pod)))
    .sort((a, b) => a.exit!.entry - b.exit!.entry)
    .at(-1)
}
