import type { Ledger, LedgerHeader } from '../journal/ledger.ts'
import { asksFor } from '../pods/baseline.ts'
import type { ContainerImage, PodView } from '../pods/glossary.ts'
import type { Reason } from '../reasons/reason.ts'
import type { RunLedgers } from './ledgers/history.ts'
import { isTakenOver } from './ledgers/taken-over.ts'
import { observedIn } from './rollout/beside.ts'
import type { World } from './world.ts'

/* A command may be about some pods of a run, or of an earlier one. That run is not finished with the command. */

/** The pods of one run, by its record, that exist and do not run their wanted images. */
export interface RestOfRun {
  ledger: Ledger
  /** Whether the run is this one. */
  isOwn: boolean
  pods: PodView[]
  /** Whether the run stays open for the pods: it asked for the same images. Otherwise this run is in its place. */
  staysOpen: boolean
}

interface RestOptions {
  ledgers: RunLedgers
  world: World
  /** Reports whether this run has brought the pod to its images, or has settled it. */
  isBrought(uid: string): boolean
}

/**
 * The rest of this run and of earlier unfinished runs. A command for one pod continues the run of all pods, or has a run of its own. The
 * run of all must stay open for the others, so that it can be aborted.
 */
export function restOfRuns({ ledgers, world, isBrought }: RestOptions): RestOfRun[] {
  const { current, superseded, finished } = ledgers
  const over = finished.map(({ ledger }) => ledger.header)
  const observed = observedIn(world)

  /** Reports whether the pod still belongs to the run: its workload has not released it, and no later run has taken over the workload. */
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

/** Reports whether the pod exists and asks for other images than it is to run. */
export function isBehind(pod: PodView, world: Pick<World, 'imagesFor'>): boolean {
  return !pod.deleting && !pod.finished && !asksFor(pod, world.imagesFor(pod))
}

function hasAsked({ images }: LedgerHeader, wanted: readonly ContainerImage[]): boolean {
  return wanted.every(({ container, image }) => images.some((one) => one.container === container && one.image === image))
}

/** The reasons for the report of the run's end. */
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
