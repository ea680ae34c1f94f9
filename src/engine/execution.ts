import { withinLimit } from '../kube/within-limit.ts'
import { asksFor } from '../pods/baseline.ts'
import { displayName } from '../pods/workload-id.ts'
import type { Plan } from '../plan/plan.ts'
import type { Account } from './account.ts'
import { withLeaseEpochs } from './account.ts'
import { createConclusion } from './conclude.ts'
import type { Reason } from '../reasons/reason.ts'
import { RunError, Withheld } from './errors.ts'
import type { RunEventBody, RunResult } from './events.ts'
import type { MixedWorkload } from '../journal/ledger.ts'
import { assertConfirmed } from './leases/confirm-all.ts'
import type { Owners } from './leases/owners.ts'
import { takeOwners } from './leases/owners.ts'
import type { SeenLease } from './leases/ownership.ts'
import { openRunLedger } from './ledgers/history.ts'
import { warnOfLostJournals } from './ledgers/lost-journals.ts'
import { namingUnfinished } from './ledgers/naming-unfinished.ts'
import { untilAnswered } from './ledgers/until-answered.ts'
import { joinOrders } from './orders/join-orders.ts'
import type { Given, Obedience } from './orders/obedience.ts'
import { createObedience } from './orders/obedience.ts'
import type { Order } from './orders/order.ts'
import { orderFor } from './orders/order.ts'
import { createOwnOrders, type OwnOrder } from './orders/own-orders.ts'
import { unlessAborted } from '../kube/unless-aborted.ts'
import { prepareWorkloads, rehearseFirst } from './prepare-workloads.ts'
import type { RunPorts, RunRequest } from './request.ts'
import type { RestOfRun } from './rest-of-runs.ts'
import { restOfRuns } from './rest-of-runs.ts'
import { createAsking } from './rollout/asking.ts'
import { candidatesIn } from './rollout/candidates.ts'
import { withComeBack } from './rollout/come-back.ts'
import { ghostsOf } from './rollout/ghosts.ts'
import { heirsIn } from './rollout/heirs.ts'
import { createPodPorts } from './rollout/pod-ports.ts'
import type { Rollout } from './rollout/rollout.ts'
import { upgradeOrder } from '../workloads/kinds/upgrade-order.ts'
import { createRollout } from './rollout/rollout.ts'
import type { Begun } from './run-end.ts'
import { createRunEnd, INTERRUPTED, plannedPods } from './run-end.ts'
import { createRunPods } from './run-pods.ts'
import { fenceOf } from './template-fence.ts'
import { token } from './token.ts'
import { CALL_LIFE_MS } from './traffic/scope-queues.ts'
import type { World } from './world.ts'

export interface Execution {
  run(accept: AcceptPlan): Promise<RunResult>
  interrupt(graceMs: number): void
  /** The same as `give` of OwnOrders. */
  order(order: OwnOrder, by: string): Promise<void>
  /** The same as `hear` of OwnOrders. */
  hear(): Promise<void>
}

/** Receives each plan before it is carried out. An error that it throws ends the run before any change. */
export type AcceptPlan = (plan: Plan) => void

export interface ExecutionOptions {
  request: RunRequest
  ports: RunPorts
  world: World
  /** The Leases as they were before the observation of the world. */
  seen: ReadonlyMap<string, SeenLease>
  tell(event: RunEventBody): void
  /** The account of all events. */
  account: Account
  /** The time since the run began, on the clock of its events, in milliseconds. */
  atMs(): number
}

/**
 * The time for which the first observation counts. A Lease that is taken later makes the run observe anew, for example after a person has
 * read the plan.
 */
const PLANNED_WITHIN_MS = 2_000

/** The time after an interrupt for the ledger, and again for the Lease. */
const LAST_WORDS_MS = 2_000

/** Carries out a plan: ownership, dry runs, ledger, templates and pods. Gives back the Leases at the end. */
export function createExecution({ request, ports, world, seen, tell, account, atMs }: ExecutionOptions): Execution {
  const { client, clock } = ports
  const { namespace } = request
  const stopping = new AbortController()
  const { signal } = stopping
  let rollout: Rollout | undefined
  let mixed: MixedWorkload[] = []
  let obedience: Obedience | undefined
  /** The outcome is decided. A later order stays on the Lease for the next owner. */
  let isConcluding = false
  /** A last write may still be on its way. */
  let isCutShort = false
  const ownOrders = createOwnOrders({ client, clock, kinds: world.kinds, namespace })
  /** The parts of the run that exist already, for an error before the pods' turn. */
  const begun: Begun = { onRecord: false, inTemplate: false }
  /** Reports whether no run needs the order any more. */
  let isDone = (_order: Order): boolean => false
  /** Reports whether the pod asks for other images than before the run. */
  let isOnNew = (_uid: string): boolean => false
  /** The pods on record that this command does not bring to their end. */
  let rest = (_isBrought: (uid: string) => boolean): RestOfRun[] => []
  const end = createRunEnd({
    request,
    world,
    signal,
    given: () => obedience?.given,
    isOnNew: (uid) => isOnNew(uid),
    rest: (isBrought) => rest(isBrought),
  })

  async function run(accept: AcceptPlan): Promise<RunResult> {
    let owners: Owners | undefined
    let result: RunResult
    try {
      refuse(accept)
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
        // The earlier owner may have settled pods, or put the template back, since the first observation. A watch may also have been
        // broken.
        await unlessAborted(world.refresh(), signal)
        world.assertWatched()
        await owners.assertAlone()
        await world.replan()
        refuse(accept)
      }
      result = await upgrade(owners)
    } catch (error) {
      const refs = world.workloads.map(({ workload: { ref } }) => ref)
      result = {
        pods: [],
        ...end.ofError(await namingUnfinished(error, { client, namespace, refs }), begun),
      }
    } finally {
      ownOrders.end()
      // The rollout guards the pods until here, since writing the ledger can take long.
      rollout?.stop()
      // The next owner begins at once after a release. So no call to a load balancer, and no write to the ledger, may be on its way. Where
      // one may be, the Lease runs out instead.
      const isQuiet = (await world.traffic.quiet()) && !isCutShort
      await orCutShort(async () => (isQuiet ? owners?.release({ isDone: (order) => isDone(order) }) : owners?.leave()))
    }
    tell({ type: 'finished', result })
    return result
  }

  /** Limits the last work of an interrupted run: the process may be killed next, so it cannot wait for an API server without an answer. */
  async function orCutShort(work: () => Promise<unknown>): Promise<void> {
    if (!end.isInterrupted()) return void (await work())
    const isInTime = await withinLimit(clock, LAST_WORDS_MS, work)
    isCutShort ||= !isInTime
  }

  function refuse(accept: AcceptPlan): void {
    const plan = world.plan()
    accept(plan)
    if (plan.refusals.length > 0) throw new RunError('preflight', { code: 'plan-refused', refusals: plan.refusals })
  }

  function onLost(reason: Reason): void {
    end.because({ outcome: 'conflict', reason })
    rollout?.lose(reason)
  }

  function tellOfTemplate(event: RunEventBody): void {
    const changed = world.plan().templates.filter(({ change }) => change.length > 0)
    begun.inTemplate ||= event.type === 'template' && changed.some(({ workload }) => displayName(workload) === event.workload)
    tell(event)
  }

  async function upgrade(owners: Owners): Promise<RunResult> {
    const rehearsed = await rehearseFirst({ world, client, namespace })
    const assertOwned = async (): Promise<void> => assertConfirmed(await owners.confirmAll())
    begun.onRecord = true
    const ledgers = await openRunLedger({
      request,
      ports,
      world,
      token: token(ports.random, 10),
      tell,
      assertOwned,
      owners,
    })
    const { run: id } = ledgers.current.ledger.header
    const ordered = (): Given | undefined =>
      request.abort ? { order: 'abort', by: request.abort.by } : ownOrders.counting(orderFor(id, owners.orders()))
    const openRuns = (): string[] =>
      [ledgers.current, ...ledgers.superseded].flatMap(({ ledger: { header } }) => (header.finishedAt ? [] : [header.run]))
    isDone = (order) => openRuns().every((one) => orderFor(one, [order]) === undefined)
    isOnNew = (uid) => {
      const pod = world.store.get(uid)?.pod
      const before = ledgers.current.ledger.entries.get(uid)?.before
      return pod !== undefined && before !== undefined && !asksFor(pod, before.images)
    }
    rest = (isBrought) => restOfRuns({ ledgers, world, isBrought })
    const refs = world.workloads.map(({ workload: { ref } }) => ref)
    ownOrders.begin({
      run: id,
      refs,
      hear: owners.hear,
      onOrder() {
        if (!isConcluding) obedience?.look()
      },
    })
    if (!ledgers.resumed) {
      const isHeard = (): boolean => ordered() !== undefined
      await joinOrders({ client, clock, signal, namespace, refs, run: id, isHeard, assertOwned })
    }
    // An earlier run that is continued may have sent the former images, in a rollback.
    const fence = ledgers.resumed || ledgers.superseded.length > 0 ? fenceOf(ledgers, owners) : undefined
    if (ordered()?.order !== 'abort')
      await prepareWorkloads({ world, client, namespace, signal, isOwned: owners.confirmAll, fence, tell: tellOfTemplate })
    await warnOfLostJournals({ ledgers, world, tell })
    const { epochOf } = owners
    // The ghosts are found last. The rollout hears of pods that go from here on.
    const ghosts = await untilAnswered(() => ghostsOf({ ledgers, world, client, namespace, epochOf }), { clock, signal })
    const runPods = createRunPods({ world, namespace, ledgers, owners, rehearsed, ghosts })
    const { podOf, inputFor, podOperations } = runPods
    const isOwned = (uid: string): boolean => owners.isHeld(podOf(uid))
    world.setOwnership((uid) => {
      // The right must hold for the life of the call, so that no later owner meets it.
      if (!owners.isHeld(podOf(uid), CALL_LIFE_MS)) throw new Withheld({ code: 'lease-not-held' })
    })
    const { store, endpoints, traffic, includes, beside, refresh } = world
    const isHeir = heirsIn(world)
    const candidates = candidatesIn(world)
    const asking = createAsking({ client, clock, namespace, candidates })
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
      asking,
      ports: createPodPorts({
        client,
        clock,
        namespace,
        store,
        candidates,
        asking,
        traffic,
        notFor: request.settings.drainNotFor,
        ledger: ledgers.current,
        podOf,
        termOf: runPods.termOf,
        boundOf: world.boundOf,
        podOperations,
        isOwned,
        refresh,
      }),
      inputFor,
      isHeir,
      byUpgradeOrder: upgradeOrder(world.kinds),
      minReadyMs: (pod) => world.workloadOf(pod)?.workload.minReadyMs() ?? 0,
      expectsHeir: (pod) => world.workloadOf(pod)?.workload.replaces(pod) ?? true,
      operatorOut: world.operatorOut,
      drainedFor: world.drainedFor,
      isUnserved: world.isUnserved,
      availability: world.availability,
      onRest: () => obedience?.rest(),
      onStalled(reason) {
        end.because({ outcome: 'deadline', reason })
        rollout?.hold(reason)
      },
      tell,
    })
    follow(rollout)
    obedience = createObedience({
      ordered,
      isWriting: ownOrders.isWriting,
      rollout,
      exitWhenPaused: request.exitWhenPaused ?? false,
      onPaused(by) {
        end.because({ outcome: 'paused', reason: { code: 'paused', by } })
      },
      tell,
    })
    tell({ type: 'started', run: id, epoch: owners.epoch, resumed: ledgers.resumed, pods: plannedPods(world) })
    rollout.start(ghosts)
    obedience.look()
    const conclusion = createConclusion({
      ports,
      namespace,
      world,
      ledgers,
      owners,
      end,
      orderedBy: () => obedience!.given!.by,
      signal,
      account: withLeaseEpochs(account, runPods.epochOf),
      atMs,
      onConcluding() {
        isConcluding = true
        ownOrders.end()
      },
      onMixed(some) {
        mixed = some
      },
      assertOwned,
      tell,
    })
    let pods = await rollout.finished
    // This process may have been stopped for long, so the Leases are confirmed first.
    if (!end.isInterrupted() && (await conclusion.isStillOwned())) await rollout.secure()
    let isTemplateBack = false
    if (!end.isInterrupted()) {
      await conclusion.endRollback(pods, signal)
      isTemplateBack = !signal.aborted
    }
    const cut = new AbortController()
    await orCutShort(async () => {
      // The signal cuts the wait for an API server without an answer.
      if (!isTemplateBack) await conclusion.endRollback(pods, cut.signal)
      const looking = { clock, signal, namespace, ledgers, world, isHeir, tell }
      pods = await withComeBack(pods, looking)
      await conclusion.conclude(pods)
      // Writing the ledger can take long, and a replacement may have come meanwhile.
      pods = await withComeBack(pods, looking)
    })
    cut.abort(new Error('interrupted'))
    return { run: id, ...end.ofPods(pods), pods, ...(mixed.length === 0 ? {} : { mixed }) }
  }

  /** Connects the rollout with the events, and tells it of those that came before. */
  function follow(live: Rollout): void {
    world.listen({
      onPod: live.onPod,
      onGone: live.onGone,
      onEndpoints: live.onEndpoints,
      onSight: live.onSight,
      isWaiting: live.isWaiting,
      onBlind({ reason }) {
        end.because({ outcome: 'deadline', reason })
        live.checkpoint()
      },
    })
    for (const { workload } of world.workloads) {
      workload.onChange(live.onWorkload)
      workload.onDrift(({ reason }) => {
        end.because({ outcome: 'conflict', reason })
        live.hold(reason)
      })
    }
    if (end.ending) live.lose(end.ending.reason)
    if (signal.aborted) {
      end.because(INTERRUPTED)
      live.interrupt(0)
    }
  }

  return {
    run,
    interrupt(graceMs) {
      if (rollout) {
        end.because(INTERRUPTED)
        rollout.interrupt(graceMs)
      }
      stopping.abort(new Error('interrupted'))
    },
    order: ownOrders.give,
    hear: ownOrders.hear,
  }
}
