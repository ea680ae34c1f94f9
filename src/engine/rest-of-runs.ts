import type { Ledger, LedgerHeader } from '../journal/ledger.ts'
import { asksFor } from '../pods/baseline.ts'
import type { ContainerImage, PodView } from '../pods/glossary.ts'
import type { Reason } from '../reasons/reason.ts'
import type { RunLedgers } from './ledgers/history.ts'
import { isTakenOver } from './ledgers/taken-over.ts'
import { observedIn } from './rollout/beside.ts'
import type { World } from './world.ts'

/* A command may be about some pods of a run, or of one before it: that run is not over with it. */

/** Pods of one run, by its record, that are there and not at the images that they are to run. */
export interface RestOfRun {
  ledger: Ledger
  /** It is this run itself. */
  isOwn: boolean
  pods: PodView[]
  /** It asked for the same of them, and stays open for them; else this one is in its place. */
  staysOpen: boolean
}

interface RestOptions {
  ledgers: RunLedgers
  world: World
  /** This run has brought the pod to its images, or has settled it. */
  isBrought(uid: string): boolean
}

/**
 * Of this run, and of those before it that are not finished. Found by reading: a command for one pod went on with a run of all, which
 * was over with that; nobody could abort it any more, and another pod was on its former images. And so where the run was of another
 * workload too, and the command had a run of its own.
 */
export function restOfRuns({ ledgers, world, isBrought }: RestOptions): RestOfRun[] {
  const { current, superseded, finished } = ledgers
  const over = finished.map(({ ledger }) => ledger.header)
  const observed = observedIn(world)

  /** Neither has its workload let go of it, nor has another run come to its end with that since. */
  function isOf({ header }: Ledger, pod: PodView): boolean {
    const ref = world.workloadOf(pod)?.workload.ref
    return ref !== undefined && !isTakenOver(ref, header, over)
  }

  return [current, ...superseded].flatMap(({ ledger }) => {
    const isOwn = ledger === current.ledger
    const rest = Array.from(ledger.entries.keys()).flatMap((uid) => {
      const pod = observed(uid)?.pod
      return pod && !isBrought(uid) && isBehind(pod, world) && isOf(ledger, pod) ? [pod] : []
    })
    const isSame = (pod: PodView): boolean => isOwn || hasAsked(ledger.header, world.imagesFor(pod))
    return Array.from(Map.groupBy(rest, isSame), ([staysOpen, pods]) => ({ ledger, isOwn, pods, staysOpen }))
  })
}

/** It is there, and asks for other images than it is to run. */
export function isBehind(pod: PodView, world: Pick<World, 'imagesFor'>): boolean {
  return !pod.deleting && !pod.finished && !asksFor(pod, world.imagesFor(pod))
}

function hasAsked({ images }: LedgerHeader, wanted: readonly ContainerImage[]): boolean {
  return wanted.every(({ container, image }) => images.some((one) => one.container === container && one.image === image))
}

/** For the reader of how the run ended. */
export function restReasons(rest: readonly RestOfRun[]): Reason[] {
  const of = ({ ledger, isOwn, pods }: RestOfRun): { run?: string; pods: string[] } => ({
    ...(isOwn ? {} : { run: ledger.header.run }),
    pods: pods.map(({ name }) => name),
  })
  const { open = [], left = [] } = Object.groupBy(rest, ({ staysOpen }) => (staysOpen ? 'open' : 'left'))
  return [
    ...(open.length === 0 ? [] : [{ code: 'stays-open', runs: open.map(of) } as const]),
    ...left.map((one) => ({ code: 'on-other-images', ...of(one) }) as const),
  ]
}
