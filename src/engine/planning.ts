import type { Adapter, Target } from '../../adapters/contract.ts'
import type { Observation } from '../../machines/pod-upgrade/context.ts'
import { changesFor } from '../pods/baseline.ts'
import type { KubeClient } from '../kube/client.ts'
import type { ContainerImage, JournalTarget, PodView } from '../pods/glossary.ts'
import type { PlanInput, PlanPod } from '../plan/build-plan.ts'
import { buildPlan } from '../plan/build-plan.ts'
import { hasChanges } from '../plan/has-changes.ts'
import type { OperatorOut } from '../plan/window.ts'
import { admit, howMuchOut } from '../plan/window.ts'
import type { Plan, PlannedTarget, PodAction } from '../plan/plan.ts'
import type { Assessment, Workload } from '../workloads/workload.ts'
import { abandonedReasons } from './abandoned.ts'
import type { Reason } from '../reasons/reason.ts'
import { reasonOf, RunError } from './errors.ts'
import { minReadyRefusals, minReadyWarnings } from './min-ready.ts'
import { assertNoneAdded, assertNoneMissing, assertNoneMissingOfGone } from './half-done-targets.ts'
import { assertStillUndrained } from './half-done-undrained.ts'
import type { Ledger, RetiredPlace } from '../journal/ledger.ts'
import { droppedPlaces, droppedRefusals, retiredWarning } from './ledgers/dropped-places.ts'
import { assertNoneNewer } from './ledgers/assert-none-newer.ts'
import { isOpenFor } from './ledgers/is-open-for.ts'
import { listLedgers } from './ledgers/list-ledgers.ts'
import type { Availability } from './rollout/availability.ts'
import { shortageReasons } from './rollout/missing-pods.ts'
import type { WindowMember } from './rollout/window-pods.ts'
import { windowPods } from './rollout/window-pods.ts'
import type { PodStore } from '../observation/pod-store.ts'
import type { Beside } from './rollout/beside.ts'
import type { RunPorts, RunRequest } from './request.ts'
import { drainOrderOf } from './traffic/drain-order.ts'
import type { Found } from './traffic/find-targets.ts'
import { isSameEntry } from './traffic/same-entry.ts'
import { keyOf } from './traffic/target-key.ts'
import { raisedDeadlines } from './raised-deadlines.ts'
import { rehearseEffects } from './rehearse-effects.ts'
import { snapshotsOf } from './snapshots-of.ts'
import type { Traffic } from './traffic/traffic.ts'
import { assertTimeEnough } from './time-enough.ts'
import type { Undoing } from './undoing.ts'
import { assertWholeWorkload, changedSince, stillOnRelease, takenBackAlready, undoing } from './undoing.ts'
import { isTemplateWritten } from '../workloads/kinds/kind.ts'
import type { Kinds } from '../workloads/kinds/kinds.ts'
import { isPod } from '../workloads/kinds/pod.ts'
import { upgradeOrder } from '../workloads/kinds/upgrade-order.ts'
import { leftOut } from './ledgers/unsettled.ts'
import { documentLease } from './locks/document-lease.ts'
import { needsDrain } from '../pods/needs-drain.ts'
import { isOpen, openJournal } from '../pods/open-journal.ts'

/** One workload of a run, with its assessment. */
export interface AssessedWorkload {
  readonly workload: Workload
  assessment: Assessment
}

/** The last decision on each workload and pod. */
export interface Planning {
  plan(): Plan
  readonly workloads: readonly AssessedWorkload[]
  /** The workload of the pod. Undefined where the run has none. */
  workloadOf(pod: PodView): AssessedWorkload | undefined
  /** The images that the pod is to run. */
  imagesFor(pod: PodView): ContainerImage[]
  /** The places of earlier runs that the operator has confirmed as retired. */
  retired(): RetiredPlace[]
  /** The run that this one takes back. */
  undoing(): Undoing | undefined
  /** The targets of a pod when the plan was made. Undefined where they were not looked for. */
  targetsOf(uid: string): JournalTarget[] | undefined
  /** The share of the pod that an operator had out of rotation when the plan was made. */
  operatorOut(uid: string): OperatorOut
  /** The uid of the half-done or gone pod whose drained entry an operator has pointed at this pod. */
  drainedFor(uid: string): string | undefined
  /** Reports whether the request is only about containers that need no drain. Then no load balancer is asked. */
  drainsNone(): boolean
  /** Decides anew on the present observation. Changes nothing. */
  replan(): Promise<void>
}

export interface PlanningOptions {
  request: RunRequest
  client: KubeClient
  kinds: Kinds
  workloads: readonly Workload[]
  store: PodStore
  beside: Pick<Beside, 'all'>
  traffic: Traffic
  loadBalancers: RunPorts['loadBalancers']
  includes(pod: PodView): boolean
  availability: Availability
  /** Called with the pods that every load balancer has. */
  onFound(pods: Iterable<PodView>): void
  /** Called with all readable ledgers, before the journals are used. */
  onLedgers(ledgers: readonly Ledger[]): void
}

const NOT_ASSESSED: Assessment = { images: [], refusals: [], warnings: [] }

export function createPlanning(options: PlanningOptions): Planning {
  const { request, client, kinds, store, beside, traffic, loadBalancers, includes } = options
  const workloads = options.workloads.map((workload): AssessedWorkload => ({ workload, assessment: NOT_ASSESSED }))
  let targets = new Map<string, JournalTarget[]>()
  let plan: Plan | undefined
  let drainedFor: ReadonlyMap<string, string> = new Map()
  /** The share that an operator had out, by uid. The window asks it of every pod. */
  let operatorOut: ReadonlyMap<string, OperatorOut> = new Map()
  let undo: Undoing | undefined
  let retired: RetiredPlace[] = []
  let drainsNone = false
  const notFor = request.settings.drainNotFor ?? []

  const workloadOf = (pod: PodView): AssessedWorkload | undefined => workloads.find(({ workload }) => workload.owns(pod))

  const imagesFor = (pod: PodView): ContainerImage[] => (undo ? undo.imagesOf(pod) : (workloadOf(pod)?.assessment.images ?? []))

  function assess(workload: Workload, own: readonly PodView[]): Assessment {
    if (undo === undefined) return workload.assess(request.images, own)
    const images = imagesBefore(undo, workload, own)
    // The undone run did not change the pod. The pod stays as it is, and no image is missing.
    return isPod(workload.ref) && images.length === 0 ? NOT_ASSESSED : workload.assess(images, own)
  }

  /** Reports whether the request drains no pod, including pods that come during the run. */
  function isWithoutDrain(pods: readonly Observation[]): boolean {
    const images = pods.flatMap(({ pod }) => imagesFor(pod))
    const isAnyDrained = pods.some(({ stored }) => (openJournal(stored)?.targets ?? []).length > 0)
    return images.length > 0 && images.every(({ container }) => notFor.includes(container)) && !isAnyDrained
  }

  /** The workloads that lack pods. In a run by label the store does not have all pods, so none is told. */
  function shortages(): Reason[] {
    if (!('refs' in request.select)) return []
    const pods = Array.from(store.all(), ({ pod }) => pod)
    return shortageReasons(options.workloads, pods).map((one) => ({ ...one, countAsOut: true }))
  }

  /** The reason for which no pod could start now, by the rule of the window. */
  function waits(of: Plan, pods: readonly Observation[]): Reason[] {
    const planned = new Map(of.pods.map((one) => [one.uid, one]))
    const isToBe = ({ pod }: Observation, action: PodAction): boolean => planned.get(pod.uid)?.action === action
    if (pods.some((one) => isToBe(one, 'adopt'))) return []
    const queued = pods.filter((one) => isToBe(one, 'upgrade'))
    const window = windowPods({
      store,
      included: pods,
      beside: beside.all(),
      members: queued.map(({ pod }): WindowMember => {
        const { uid, name, ip: address } = pod
        return { uid, name, state: 'queued', result: undefined, pod, gone: false, address, mustWait: false, wasFound: true }
      }),
      workloads: options.workloads,
      expectsHeir: (pod) => workloadOf(pod)?.workload.replaces(pod) ?? true,
      operatorOut: (uid) => operatorOut.get(uid) ?? 'none',
      drainedFor: () => undefined,
      isUnserved: ({ uid }) => planned.get(uid)?.unserved !== undefined,
      availability: options.availability,
    })
    const { start, waitingFor } = admit(window, of.window)
    if (start.length > 0 || waitingFor === undefined) return []
    return [{ code: 'no-pod-can-start', because: waitingFor }]
  }

  async function replan(): Promise<void> {
    // An abort ends the run with any deadlines.
    if (!request.abort) assertTimeEnough(loadBalancers, request.settings)
    const ledgers = await listLedgers(client, request.namespace)
    assertNoneNewer(
      ledgers,
      workloads.map(({ workload: { ref } }) => ref),
    )
    options.onLedgers(ledgers.flatMap((found) => (found.kind === 'read' ? [found.ledger] : [])))
    // A label that no pod has is the error to report, and names no workload whose runs could be undone.
    if (request.undo && workloads.length > 0) {
      if ('refs' in request.select) assertWholeWorkload(request.select.refs, options.workloads)
      undo = undoing(request.undo, options.workloads, ledgers, { kinds, pods: [...store.all(), ...beside.all()] })
    }
    const pods = [...store.all()].filter(({ pod }) => includes(pod))
    for (const assessed of workloads) {
      const own = pods.flatMap(({ pod }) => (assessed.workload.owns(pod) ? [pod] : []))
      assessed.assessment = assess(assessed.workload, own)
    }
    const found = new Map<string, JournalTarget[]>()
    const others = new Map<string, string>()
    const refs = workloads.map(({ workload: { ref } }) => ref)
    const left = await leftOut(client, request.namespace, { kinds, refs, store }, ledgers)
    assertNoneMissingOfGone(left, { namespace: request.namespace, loadBalancers })
    const readable = ledgers.flatMap((one) => (one.kind === 'read' ? [one.ledger] : []))
    const planned = await planPods({
      pods,
      isOnRecord: ({ uid }) => isOpenFor(uid, readable),
      imagesFor,
      undo,
      traffic,
      loadBalancers,
      notFor,
      targets: found,
      drainedFor: others,
      // An abort drains nothing, so it need not wait for a load balancer.
      mayDrain: !request.abort,
      onFound: options.onFound,
      left,
    })
    const views = pods.map(({ pod }) => pod)
    const abandoned = abandonedReasons(left, views, request.namespace)
    const staying = undo ? stillOnRelease(undo, options.workloads, views) : []
    const changed = undo ? changedSince(undo, options.workloads, views) : []
    plan = buildPlan({
      ...planned,
      byUpgradeOrder: upgradeOrder(kinds),
      namespace: request.namespace,
      workloads: workloads.map(({ workload }) => workload.ref),
      maxUnavailable: request.settings.maxUnavailable,
      templates: workloads.flatMap(({ assessment }) => assessment.template ?? []),
      guarantees: loadBalancers.map(({ name, adapterName, adapter: { capabilities }, lock }) => ({
        loadBalancer: name,
        adapter: adapterName,
        level: capabilities.guarantee,
        inFlight: capabilities.inFlight,
        disruptsOthers: capabilities.disruptsOthers,
        ...(lock && { lock: { namespace: lock.namespace, lease: documentLease(lock) } }),
      })),
      drainOrder: drainOrderOf(loadBalancers),
      warnings: [
        ...workloads.flatMap(({ assessment }) => assessment.warnings),
        ...shortages(),
        ...minReadyWarnings(options.workloads, request.settings),
        ...staying,
        ...changed,
        ...abandoned,
      ],
      refusals: workloads.flatMap(({ assessment }) => assessment.refusals),
    })
    const toBeUpgraded = new Set(plan.pods.flatMap(({ uid, action }) => (action === 'upgrade' ? [uid] : [])))
    // Nothing needs a drain where no pod is to leave rotation.
    const isAnyLeaving = planned.pods.some(({ pod, isKept }) => !isKept && toBeUpgraded.has(pod.uid))
    const dropped = isAnyLeaving ? droppedPlaces({ kinds, ledgers: readable, refs, loadBalancers, pods: () => store.all() }) : []
    const isRetired = ({ loadBalancer }: RetiredPlace): boolean => request.retiredLoadBalancers?.includes(loadBalancer) ?? false
    retired = dropped.filter(isRetired).map(({ loadBalancer, scope }) => ({ loadBalancer, scope }))
    plan = {
      ...plan,
      warnings: [...plan.warnings, ...dropped.filter(isRetired).map(retiredWarning)],
      refusals: [
        ...plan.refusals,
        ...(hasChanges(plan) ? minReadyRefusals(options.workloads, request.settings) : []),
        ...droppedRefusals(
          dropped.filter((one) => !isRetired(one)),
          refs,
        ),
      ],
    }
    const isOut = ({ inRotation }: PlannedTarget): boolean => !inRotation
    operatorOut = new Map(plan.pods.map(({ uid, targets: of }) => [uid, howMuchOut(of, isOut)]))
    drainedFor = others
    drainsNone = isWithoutDrain(pods)
    if (plan.refusals.length === 0) plan = { ...plan, warnings: [...plan.warnings, ...waits(plan, pods)] }
    if (undo) {
      const spent = plan.refusals.length > 0 || hasChanges(plan) ? [] : takenBackAlready(undo, options.workloads)
      plan = { ...plan, undoes: { run: undo.run, images: undo.images }, warnings: [...plan.warnings, ...spent] }
    }
    const raised = raisedDeadlines(plan, (uid) => store.get(uid)?.pod, request.settings)
    if (raised.length > 0) plan = { ...plan, raisedDeadlines: raised }
    // Warnings and refusals concern an upgrade. An abort ends the open run in any case, and does not change the template forward.
    if (request.abort) plan = { ...plan, templates: [], warnings: [], refusals: [] }
    targets = found
  }

  return {
    plan: () => plan!,
    workloads,
    workloadOf,
    imagesFor,
    retired: () => retired,
    undoing: () => undo,
    targetsOf: (uid) => targets.get(uid),
    operatorOut: (uid) => operatorOut.get(uid) ?? 'none',
    drainedFor: (uid) => drainedFor.get(uid),
    drainsNone: () => drainsNone,
    replan,
  }
}

interface PlanPodsOptions {
  pods: readonly Observation[]
  isOnRecord(pod: PodView): boolean
  imagesFor(pod: PodView): ContainerImage[]
  undo: Undoing | undefined
  traffic: Traffic
  loadBalancers: RunPorts['loadBalancers']
  /** The containers whose change alone needs no drain. */
  notFor: readonly string[]
  /** The map that gets the targets that were found. */
  targets: Map<string, JournalTarget[]>
  drainedFor: Map<string, string>
  mayDrain: boolean
  onFound: PlanningOptions['onFound']
  /** The entries of gone pods. */
  left: Awaited<ReturnType<typeof leftOut>>
}

/**
 * The former images of a workload. Where sluice writes no template, these are the former images of its pods. A template that is to stay
 * must not get the images of one pod.
 */
function imagesBefore(undo: Undoing, workload: Workload, pods: readonly PodView[]): ContainerImage[] {
  const template = undo.templateOf(workload)
  if (template.length > 0 || isTemplateWritten(workload.kind)) return template
  return [...new Map(pods.flatMap((pod) => undo.imagesOf(pod)).map((image) => [image.container, image])).values()]
}

/**
 * Finds in the load balancers the entries to drain, with their state. The pods beside them are looked for as well, since a pod that an
 * operator has out takes a place in the window.
 */
async function planPods({
  pods,
  isOnRecord,
  imagesFor: wanted,
  undo,
  traffic,
  loadBalancers,
  notFor,
  targets: known,
  drainedFor,
  mayDrain,
  onFound,
  left: mayBeLeft,
}: PlanPodsOptions): Promise<Pick<PlanInput, 'pods' | 'leftOut'>> {
  for (const one of pods) {
    assertNoneMissing(one, loadBalancers)
    if (mayDrain) assertStillUndrained(one, wanted(one.pod), notFor)
  }
  const isChanged = ({ pod }: Observation): boolean => changesFor(pod, wanted(pod)).length > 0
  // A pod whose change needs no drain is not looked for.
  const isKept = (one: Observation): boolean => isChanged(one) && !needsDrain(one.pod, wanted(one.pod), notFor)
  const isUndrained = ({ stored }: Observation): boolean => openJournal(stored)?.undrained !== undefined
  const staying = pods.filter(({ pod, stored }) => !pod.deleting && !pod.finished && !isOpen(stored))
  // An open drain intent may still be carried out, so the window must know the other pods. A pod with a restore record may be drained again
  // for other images.
  const mayBeDrained = (one: Observation): boolean => {
    const step = openJournal(one.stored)?.step
    if (isUndrained(one)) return isChanged(one) && !isKept(one)
    return step === 'drain' || (step !== 'patched' && isChanged(one) && !isKept(one))
  }
  const asked = mayDrain && pods.some(mayBeDrained) ? staying : []
  // A drained pod goes on as recorded, and so does a pod that is to be patched again.
  const isToBePatched = (one: Observation): boolean =>
    !one.pod.deleting &&
    !one.pod.finished &&
    !isUndrained(one) &&
    (openJournal(one.stored)?.step === 'drain' || (isOpen(one.stored) && isChanged(one)))
  const adopted = mayDrain ? pods.filter(isToBePatched) : []
  let answers: Found[]
  try {
    answers = await traffic.find([...asked, ...adopted].map(({ pod }) => pod))
  } catch (error) {
    throw new RunError('preflight', { code: 'load-balancer-not-asked', because: reasonOf(error) }, { cause: error })
  }
  const found = new Map(asked.map(({ pod }, index) => [pod.uid, answers[index]!]))
  for (const [index, one] of adopted.entries()) await assertNoneAdded(one, answers[asked.length + index]!, loadBalancers)
  onFound(asked.flatMap(({ pod }) => (found.get(pod.uid)!.found ? [pod] : [])))
  const standing = await snapshotsOf(
    [...found.values()].flatMap((one) => (one.found ? one.targets : [])),
    loadBalancers,
  )
  await rehearseEffects(
    asked.flatMap((asking) => {
      const one = found.get(asking.pod.uid)!
      return one.found && isChanged(asking) && !isKept(asking) ? one.targets : []
    }),
    standing,
    loadBalancers,
  )
  // An entry that sluice has out for a gone or moved pod is not an operator's, and comes back. It must not make the plan refuse the run, or
  // leave a pod out that came to the address.
  const isAnyOut = [...standing.values()].some(({ inRotation }) => !inRotation)
  const isAnyMissing = [...found.values()].some((one) => !one.found)
  // A plan without other work must still tell of the entries that were left.
  const isAnyToDo = asked.length > 0 || pods.some((one) => isOpen(one.stored) || isKept(one))
  const left = isAnyOut || isAnyMissing || !isAnyToDo ? mayBeLeft : []
  const halfDone = pods.flatMap(({ pod: { uid }, stored }) =>
    (openJournal(stored)?.targets ?? []).map((target) => ({ uid, target })),
  )
  const drained = isAnyOut ? [...halfDone, ...left] : []
  const adapterOf = (of: string): Adapter | undefined => loadBalancers.find(({ name }) => name === of)?.adapter
  // The entry counts, since an operator may have pointed it at the present pod.
  const own = (loadBalancer: string, target: Target): (typeof drained)[number] | undefined =>
    drained.find(({ target: before }) => !before.untouched && isSameEntry(before, { loadBalancer, target }, adapterOf))
  const planned = pods.map((observed): PlanPod => {
    const { pod, stored } = observed
    const images = wanted(pod)
    const stays = undo && images.length === 0 ? ({ code: 'not-of-undone-run', run: undo.run } as const) : undefined
    const isRead = stored.kind !== 'unreadable'
    const base = {
      pod,
      stored,
      isOnRecord: !isRead && isOnRecord(pod),
      images,
      isKept: isKept(observed),
      ...(stays === undefined ? {} : { stays }),
    }
    const open = openJournal(stored)
    if (open) {
      const targets = open.targets.map(({ loadBalancer, target, untouched }) => ({
        loadBalancer,
        target,
        inRotation: !untouched,
      }))
      return { ...base, targets: { found: true, targets } }
    }
    const one = found.get(pod.uid) ?? { found: true, targets: [] }
    if (!one.found) return { ...base, targets: one }
    const recorded = one.targets.map(({ loadBalancer, target }): JournalTarget => {
      const { id, scope } = target
      const before = own(loadBalancer, target)
      const { prior, inRotation } = standing.get(keyOf({ loadBalancer, target: id })) ?? { prior: null, inRotation: true }
      if (before && !inRotation) drainedFor.set(pod.uid, before.uid)
      if (before) return { ...before.target, target: id }
      return { loadBalancer, target: id, scope, prior, untouched: !inRotation }
    })
    known.set(pod.uid, base.isKept ? [] : recorded)
    const targets = recorded.map(({ loadBalancer, target, untouched }): PlannedTarget => ({
      loadBalancer,
      target,
      inRotation: !untouched,
    }))
    return { ...base, targets: { found: true, targets, ...(one.lookedFor === undefined ? {} : { lookedFor: one.lookedFor }) } }
  })
  return { pods: planned, leftOut: left.map(({ target }) => target) }
}
