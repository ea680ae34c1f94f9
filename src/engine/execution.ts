import { AdapterError } from '../../adapters/contract.ts'
import type { PodUpgradeInput } from '../../machines/pod-upgrade/context.ts'
import type { PatchOperation } from '../kube/client.ts'
import { withinLimit } from '../kube/within-limit.ts'
import { asksFor } from '../pods/baseline.ts'
import type { PodView } from '../pods/glossary.ts'
import { KubeError } from '../kube/errors.ts'
import { WorkloadError } from '../workloads/errors.ts'
import { displayName } from '../workloads/resources.ts'
import { revisionLabelPatch } from '../workloads/revision-label.ts'
import type { Account } from './account.ts'
import { mayBeOpen } from '../pods/open-journal.ts'
import { messageOf, RunError } from './errors.ts'
import type { MixedWorkload, PodResult, RunEventBody, RunResult } from './events.ts'
import type { Ledger, LedgerHeader } from '../journal/ledger.ts'
import { closeLedgers, findLeftOpen } from './close-ledgers.ts'
import type { LedgerStore } from './ledger-store.ts'
import { ghostsOf } from './ghosts.ts'
import { heirsIn } from './heirs.ts'
import type { RunLedgers } from './history.ts'
import { allLedgers, openRunLedger } from './history.ts'
import { namingUnfinished } from './naming-unfinished.ts'
import { warnOfLostJournals } from './lost-journals.ts'
import { withComeBack } from './come-back.ts'
import { endingOfAbort, isBrought, withOverlooked, worstOutcome } from './outcome.ts'
import type { Given, Obedience } from './obedience.ts'
import { createObedience } from './obedience.ts'
import type { Order } from './order.ts'
import { orderFor } from './order.ts'
import type { Owners } from './owners.ts'
import { takeOwners } from './owners.ts'
import type { SeenLease } from './ownership.ts'
import { isSettled } from './open-entries.ts'
import { mixedAfterAbort, putBackAfterAbort, putBackAfterRollback } from './former-templates.ts'
import { createPodPorts } from './pod-ports.ts'
import { prepareWorkloads, rehearseFirst } from './prepare-workloads.ts'
import type { RunPorts, RunRequest } from './request.ts'
import type { Rollout } from './rollout.ts'
import { createRollout } from './rollout.ts'
import { token } from './token.ts'
import { ofTheRest } from './taken-over.ts'
import { CALL_LIFE_MS } from './traffic.ts'
import { unlessAborted } from './unless-aborted.ts'
import type { World } from './world.ts'

export interface Execution {
  run(): Promise<RunResult>
  interrupt(graceMs: number): void
}

export interface ExecutionOptions {
  request: RunRequest
  ports: RunPorts
  world: World
  /** Leases as they were before the world was looked at. */
  seen: ReadonlyMap<string, SeenLease>
  tell(event: RunEventBody): void
  /** Of all that was told. */
  account: Account
  /** Milliseconds since the run began, as its events have them. */
  atMs(): number
}

type Ending = Pick<RunResult, 'outcome' | 'reason' | 'holder'>

/** What was seen when the run began is looked at anew where the Lease is had later: a person may have read the plan meanwhile. */
const PLANNED_WITHIN_MS = 2_000

/** After an interrupt, for the ledger and then for the Lease. */
const LAST_WORDS_MS = 2_000

/** What ends so may be drained, whatever its journal says. */
const UNSETTLED: ReadonlySet<PodResult['outcome']> = new Set(['needsOperator', 'interrupted', 'conflict'])

const INTERRUPTED: Ending = { outcome: 'interrupted', reason: 'stopped before every pod was done' }

/** Carries a plan out: ownership, dry runs, ledger, templates, pods; and gives everything back in the end. */
export function createExecution({ request, ports, world, seen, tell, account, atMs }: ExecutionOptions): Execution {
  const { client, clock } = ports
  const { namespace } = request
  const stopping = new AbortController()
  const { signal } = stopping
  let rollout: Rollout | undefined
  /** Why the run ends otherwise than its pods do. */
  let ending: Ending | undefined
  let mixed: MixedWorkload[] = []
  let obedience: Obedience | undefined
  /** How it ends is decided: an order that comes now stands on the Lease, for whoever comes next. */
  let isConcluding = false
  /** What was to be written in the end may still be on its way. */
  let isCutShort = false
  /** A template has its new images: whatever keeps the pods from their turn after that, something was touched. */
  let isTemplateWritten = false
  /** Nobody needs this order any more. */
  let isDone = (_order: Order): boolean => false
  /** The pod asks for other images than it had before the run. */
  let isOnNew = (_uid: string): boolean => false

  async function run(): Promise<RunResult> {
    let owners: Owners | undefined
    let result: RunResult
    try {
      refuse()
      owners = await takeOwners({
        world,
        ports,
        namespace,
        signal,
        tell,
        seen: new Map([...seen, ...(request.abort?.seen ?? [])]),
        onLost,
        onOrder() {
          if (!isConcluding) obedience?.look()
        },
      })
      if (owners.outdated || !world.store.isCurrent() || atMs() > PLANNED_WITHIN_MS) {
        // Found by simulation: its watch was broken, and it settled once more what the owner before had settled; or that owner
        // had put the template back and gone while it asked for the Lease, and it patched pods to what the template had no more.
        await unlessAborted(world.refresh(), signal)
        world.assertWatched()
        await world.replan()
        refuse()
      }
      result = await upgrade(owners)
    } catch (error) {
      const refs = world.workloads.map(({ workload: { ref } }) => ref)
      result = { run: '', pods: [], ...endingOf(await namingUnfinished(error, { client, namespace, refs })) }
    } finally {
      // Found by simulation (harsh seed 5979082): what is told in the end was long on its way, and a load balancer forgot a pod then.
      rollout?.stop()
      // The next owner of a Lease that is given back begins at once: no call of this one may still be on its way to a load
      // balancer then, nor a last word to the ledger. Where one may be, it runs out instead, and the call with it.
      const isQuiet = (await world.traffic.quiet()) && !isCutShort
      await orCutShort(async () => (isQuiet ? owners?.release({ isDone: (order) => isDone(order) }) : owners?.leave()))
    }
    tell({ type: 'finished', result })
    return result
  }

  /** After an interrupt there is no time to wait for an API server that does not answer: whoever sent it may kill next. */
  async function orCutShort(work: () => Promise<unknown>): Promise<void> {
    if (ending?.outcome !== 'interrupted') return void (await work())
    const isInTime = await withinLimit(clock, LAST_WORDS_MS, work)
    isCutShort ||= !isInTime
  }

  function refuse(): void {
    const { refusals } = world.plan()
    if (refusals.length > 0) throw new RunError('preflight', refusals.map(({ message }) => message).join('; '))
  }

  async function assertConfirmed({ confirmAll }: Owners): Promise<void> {
    if (!(await confirmAll())) throw new RunError('conflict', 'the Lease is not held any more')
  }

  function onLost(reason: string): void {
    ending ??= { outcome: 'conflict', reason }
    rollout?.lose(reason)
  }

  /** What an error means that comes before the pods' turn. */
  function endingOf(error: unknown): Ending {
    const reason = messageOf(error)
    if (ending) return ending
    if (signal.aborted) return { outcome: 'interrupted', reason: 'interrupted before any pod was touched' }
    const refused = isTemplateWritten ? 'failed' : 'refused'
    if (error instanceof RunError) {
      const { kind, holder } = error
      return { outcome: kind === 'preflight' ? refused : kind, reason, ...(holder === undefined ? {} : { holder }) }
    }
    if (error instanceof WorkloadError) {
      return { outcome: error.kind === 'conflict' || error.kind === 'deadline' ? error.kind : refused, reason }
    }
    if (isTemplateWritten && error instanceof KubeError) return { outcome: refused, reason }
    throw error
  }

  function tellOfTemplate(event: RunEventBody): void {
    const changed = world.plan().templates.filter(({ change }) => change.length > 0)
    isTemplateWritten ||= event.type === 'template' && changed.some(({ workload }) => displayName(workload) === event.workload)
    tell(event)
  }

  async function upgrade(owners: Owners): Promise<RunResult> {
    const rehearsed = await rehearseFirst({ world, client, namespace })
    const assertOwned = (): Promise<void> => assertConfirmed(owners)
    const ledgers = await openRunLedger({ request, ports, world, token: token(ports.random, 10), tell, assertOwned })
    const { run: id } = ledgers.current.ledger.header
    const ordered = (): Given | undefined =>
      request.abort ? { order: 'abort', by: request.abort.by } : orderFor(id, owners.orders())
    const openRuns = (): string[] =>
      [ledgers.current, ...ledgers.superseded].flatMap(({ ledger: { header } }) => (header.finishedAt ? [] : [header.run]))
    isDone = ({ runs }) => !openRuns().some((one) => runs.includes(one))
    isOnNew = (uid) => {
      const pod = world.store.get(uid)?.pod
      const before = ledgers.current.ledger.entries.get(uid)?.before
      return pod !== undefined && before !== undefined && !asksFor(pod, before.images)
    }
    // One that goes on may have sent its former images, in a rollback.
    const fence = ledgers.resumed || ledgers.superseded.length > 0 ? fenceOf(ledgers, owners) : undefined
    if (ordered()?.order !== 'abort')
      await prepareWorkloads({ world, client, namespace, signal, isOwned: owners.confirmAll, fence, tell: tellOfTemplate })
    await warnOfLostJournals({ ledgers, world, tell })
    // Last, with nothing to wait for until the rollout hears of pods that go.
    const ghosts = await ghostsOf({ ledgers, world, client, namespace, epochOf: owners.epochOf })
    /** Pods as last seen, those that are gone among them. */
    const known = new Map(ghosts.map(({ pod }) => [pod.uid, pod]))

    function podOf(uid: string): PodView {
      const pod = world.store.get(uid)?.pod
      if (pod) known.set(uid, pod)
      return known.get(uid)!
    }

    function inputFor(pod: PodView): PodUpgradeInput | undefined {
      const observation = world.store.get(pod.uid)
      const assessed = world.workloadOf(pod)
      if (!observation || !assessed) return undefined
      known.set(pod.uid, pod)
      const address = ledgers.addressOf(pod.uid)
      const before = ledgers.current.ledger.entries.get(pod.uid)?.before?.images
      return {
        ...observation,
        run: id,
        epoch: owners.epochOf(pod),
        wanted: world.imagesFor(pod),
        rehearsed: rehearsed.has(pod.uid),
        ...(address === undefined ? {} : { address }),
        ...(before === undefined ? {} : { before }),
        ...(isSettled(observation, allLedgers(ledgers)) ? { settled: true } : {}),
        gone: false,
      }
    }

    const isOwned = (uid: string): boolean => owners.isHeld(podOf(uid))
    world.setOwnership((uid) => {
      // For as long as the call may live: no owner after this one meets it.
      if (!owners.isHeld(podOf(uid), CALL_LIFE_MS))
        throw new AdapterError('engine', 'retryable', 'the Lease is not held at this moment')
    })
    const podOperations = (pod: PodView): PatchOperation[] => {
      const assessed = world.workloadOf(pod)
      if (!assessed) return []
      const label = world.undoing()?.labelOf(pod, assessed.assessment.images)
      return label === undefined ? assessed.workload.podOperations(pod) : revisionLabelPatch(pod, label)
    }
    const { store, endpoints, traffic, includes, beside, refresh } = world
    const isHeir = heirsIn(world)
    rollout = createRollout({
      clock,
      settings: request.settings,
      window: world.plan().window,
      store,
      endpoints,
      traffic,
      includes,
      workloads: world.workloads.map(({ workload }) => workload),
      beside,
      refresh,
      ports: createPodPorts({ client, clock, namespace, store, traffic, ledger: ledgers.current, podOf, podOperations, isOwned }),
      inputFor,
      isHeir,
      expectsHeir: (pod) => world.workloadOf(pod)?.workload.replaces(pod) ?? true,
      isOperatorOut: world.isOperatorOut,
      drainedFor: world.drainedFor,
      isUnserved: world.isUnserved,
      onRest: () => obedience?.rest(),
      onStalled(reason) {
        ending ??= { outcome: 'deadline', reason }
        rollout?.hold(reason)
      },
      tell,
    })
    follow(rollout)
    obedience = createObedience({
      ordered,
      rollout,
      exitWhenPaused: request.exitWhenPaused ?? false,
      onPaused(by) {
        ending ??= { outcome: 'paused', reason: `paused by ${by}, with nothing under way` }
      },
      tell,
    })
    tell({ type: 'started', run: id, epoch: owners.epoch, resumed: ledgers.resumed, pods: plannedPods() })
    rollout.start(ghosts)
    obedience.look()
    let pods = await rollout.finished
    // For long nobody has looked where this process was stopped: then the Lease is asked for first.
    if (ending?.outcome !== 'interrupted' && (await owners.confirmAll())) await rollout.secure()
    let isTemplateBack = false
    if (ending?.outcome !== 'interrupted') {
      await endRollback(ledgers, pods, owners, signal)
      isTemplateBack = !signal.aborted
    }
    const cut = new AbortController()
    await orCutShort(async () => {
      // Found by reading: an API server that was down was waited for, with nothing that could cut it short.
      if (!isTemplateBack) await endRollback(ledgers, pods, owners, cut.signal)
      pods = await withComeBack(pods, { clock, signal, namespace, ledgers, world, isHeir })
      await conclude(ledgers, pods, owners)
    })
    cut.abort(new Error('interrupted'))
    return { run: id, ...endingFor(pods), pods, ...(mixed.length === 0 ? {} : { mixed }) }
  }

  function plannedPods(): { uid: string; pod: string }[] {
    return world
      .plan()
      .pods.filter(({ action }) => action !== 'skip')
      .map(({ uid, name }) => ({ uid, pod: name }))
  }

  /** Lets the rollout hear of what happens, also of what has happened before it was there. */
  function follow(live: Rollout): void {
    world.listen({
      onPod: live.onPod,
      onGone: live.onGone,
      onEndpoints: live.onEndpoints,
      onSight: live.onSight,
      onBlind({ message }) {
        ending ??= { outcome: 'deadline', reason: message }
        live.checkpoint()
      },
    })
    for (const { workload } of world.workloads) {
      workload.onChange(live.onWorkload)
      workload.onDrift(({ message }) => {
        ending ??= { outcome: 'conflict', reason: message }
        live.hold(message)
      })
    }
    if (ending) live.lose(ending.reason)
    if (signal.aborted) {
      ending ??= INTERRUPTED
      live.interrupt(0)
    }
  }

  /** An interrupt, or a pause, changes nothing for a run whose pods all came to their end, or one of which needs a person. */
  function endingFor(pods: readonly PodResult[]): Ending {
    const worst = worstOutcome(pods)
    if (ending?.outcome === 'interrupted' || ending?.outcome === 'paused') {
      if (worst.outcome === 'needsOperator') return worst
      return worst.outcome === 'done' && isComplete(pods) ? worst : ending
    }
    // Nor does what else keeps a run from its end: whoever branches on how it ended would never hear of the pod.
    if (ending && ending.outcome !== 'needsOperator' && worst.outcome === 'needsOperator')
      return { outcome: worst.outcome, reason: `${worst.reason}; ${ending.reason}` }
    if (ending) return ending
    if (!isAborted()) return worst.outcome === 'done' ? (notBegun(pods) ?? worst) : worst
    return endingOfAbort(pods, { by: obedience!.given!.by, takesOver: request.abort !== undefined, isOnNew })
  }

  /** Found by simulation (harsh seed 4102486): the pod that a run was held for is gone, and its heir on the new images. */
  function notBegun(pods: readonly PodResult[]): Ending | undefined {
    const told = new Set(pods.map(({ uid }) => uid))
    const left = plannedPods().filter(({ uid }) => {
      const pod = world.store.get(uid)?.pod
      return pod && !told.has(uid) && !pod.deleting && !pod.finished && !asksFor(pod, world.imagesFor(pod))
    })
    if (left.length === 0) return undefined
    return {
      outcome: 'failed',
      reason: `not begun: ${left.map(({ pod }) => pod).join(', ')}, since a pod failed that is gone by now`,
    }
  }

  /**
   * All that was to be done is. One that was interrupted, or held, as it began has not even looked at its pods; and what an
   * abort is to do is more than what it does with those.
   */
  function isComplete(pods: readonly PodResult[]): boolean {
    if (obedience?.given?.order === 'abort') return false
    const told = new Set(pods.map(({ uid }) => uid))
    const isLeft = plannedPods().some(({ uid }) => !told.has(uid) && world.store.get(uid) !== undefined)
    return !isLeft && pods.every(isBrought)
  }

  function isAborted(): boolean {
    return obedience?.given?.order === 'abort' && ending?.outcome !== 'interrupted'
  }

  async function conclude(ledgers: RunLedgers, pods: readonly PodResult[], owners: Owners): Promise<void> {
    // A pod may have come to its end on what was observed alone, while another had taken over.
    if (!(await owners.confirmAll())) return
    isConcluding = true
    const aborted = isAborted() ? await endAbort(ledgers, pods, owners) : undefined
    // Begun, and not at its end: for the next abort.
    if (isAborted() && aborted === undefined) return
    // A template may take long to be put back.
    if (aborted && !(await owners.confirmAll())) return
    try {
      const left = await findLeftOpen({ ledgers, pods, world, client, namespace })
      if (left.overlooked.length > 0) ending = withOverlooked(endingFor(pods), left.overlooked)
      const end = { by: ports.identity, endedAt: new Date(clock.wallNow()).toISOString(), ...endingFor(pods) }
      const idle = idleAmong(ledgers.current.ledger.entries.keys(), pods)
      const told = { process: account.process(end), pods: account.pods(atMs()), idle }
      await closeLedgers({
        ledgers,
        left,
        isComplete: isComplete(pods),
        client,
        namespace,
        told,
        assertOwned: () => assertConfirmed(owners),
        ...(aborted ? { aborted } : {}),
      })
    } catch (error) {
      tell({ type: 'warning', message: `the ledger could not be closed: ${messageOf(error)}` })
    }
  }

  /** Those that are there, whose own journal says that nothing is drained for them, and of whom nothing else was told. */
  function idleAmong(uids: Iterable<string>, pods: readonly PodResult[]): ReadonlySet<string> {
    const inDoubt = new Set(pods.filter(({ out, outcome }) => out || UNSETTLED.has(outcome)).map(({ uid }) => uid))
    const isIdle = (uid: string): boolean => {
      const stored = world.store.get(uid)?.stored
      return stored !== undefined && !mayBeOpen(stored) && !inDoubt.has(uid)
    }
    return new Set([...uids].filter(isIdle))
  }

  async function endRollback(
    { current, superseded }: RunLedgers,
    pods: readonly PodResult[],
    { confirmAll: isOwned }: Owners,
    by: AbortSignal,
  ): Promise<void> {
    if (isAborted() || !pods.some(({ outcome }) => outcome === 'rolledBack') || !(await isOwned())) return
    const ended = superseded.map(({ ledger }) => ledger)
    await putBackAfterRollback({ ledger: current.ledger, ended, world, signal: by, isOwned, tell })
  }

  /** Undefined where a template could not be put back. */
  async function endAbort(ledgers: RunLedgers, pods: readonly PodResult[], owners: Owners): Promise<LedgerHeader['aborted']> {
    try {
      const { current, superseded } = ledgers
      const rest = ({ ledger }: LedgerStore): Ledger => ofTheRest(ledger, allLedgers(ledgers))
      const ledger = rest(current)
      const ended = superseded.map(rest)
      const { confirmAll: isOwned } = owners
      const fence = fenceOf(ledgers, owners)
      const left = await putBackAfterAbort({ ledger, ended, world, signal, isOwned, fence, tell })
      if (left.length > 0) ending ??= { outcome: 'conflict', reason: `aborted, but ${left.join('; ')}` }
      else mixed = mixedAfterAbort({ ledger, ended, world })
      // An interrupt comes too late now to change it.
      ending ??= endingFor(pods)
      return { by: obedience!.given!.by, left }
    } catch (error) {
      const outcome = error instanceof WorkloadError && error.kind === 'deadline' ? 'deadline' : 'failed'
      ending ??= { outcome, reason: `a template could not be put back: ${messageOf(error)}` }
      return undefined
    }
  }

  return {
    run,
    interrupt(graceMs) {
      if (rollout) {
        ending ??= INTERRUPTED
        rollout.interrupt(graceMs)
      }
      stopping.abort(new Error('interrupted'))
    },
  }
}

/** No other owner of any run has the same. */
function fenceOf({ current }: RunLedgers, { epoch }: Owners): string {
  return `${current.ledger.header.run}/${epoch}`
}
