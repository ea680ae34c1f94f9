import type { TargetSnapshot } from '../../adapters/contract.ts'
import { messageOf, RunError } from './errors.ts'
import type { ContainerImage, JournalTarget, PodView } from '../pods/glossary.ts'
import type { Observation } from '../../machines/pod-upgrade/context.ts'
import { changesFor } from '../pods/baseline.ts'
import { buildPlan } from '../plan/build-plan.ts'
import type { PlanPod } from '../plan/build-plan.ts'
import { guarantees } from '../plan/guarantees.ts'
import type { Plan, PlannedTarget, WorkloadRef } from '../plan/plan.ts'
import { openNamed, openOwners } from '../workloads/open.ts'
import type { Assessment, Workload } from '../workloads/workload.ts'
import type { EndpointStore } from './endpoint-store.ts'
import { openEndpointStore } from './endpoint-store.ts'
import type { RunEventBody } from './events.ts'
import type { PodStore } from './pod-store.ts'
import { openPodStore } from './pod-store.ts'
import type { RunPorts, RunRequest } from './request.ts'
import type { Found, Traffic } from './traffic.ts'
import { createTraffic } from './traffic.ts'

/** What happens while a run goes on; set once the run has begun. */
export interface WorldListener {
  onPod(uid: string): void
  onGone(uid: string): void
  onEndpoints(uids: Iterable<string>): void
  /** A watch ended for good: the world cannot be seen any more. */
  onBlind(error: Error): void
}

/** One workload of a run, with what is to be done to it. */
export interface AssessedWorkload {
  workload: Workload
  assessment: Assessment
}

/** The world as this run observes it, and the plan that was made of it. */
export interface World {
  plan: Plan
  workloads: AssessedWorkload[]
  store: PodStore
  endpoints: EndpointStore
  traffic: Traffic
  includes(pod: PodView): boolean
  /** The targets of the pods to be drained as they stood when the plan was made, by pod uid. */
  targets: ReadonlyMap<string, JournalTarget[]>
  /** Undefined for a pod of no workload of this run. */
  workloadOf(pod: PodView): AssessedWorkload | undefined
  listen(listener: WorldListener): void
  /** Asked before every effect: throws where the run may not act on the pod now. */
  setOwnership(assertOwned: (uid: string) => void): void
  stop(): Promise<void>
}

const DEAF: WorldListener = { onPod() {}, onGone() {}, onEndpoints() {}, onBlind() {} }

/** Lists and watches what the request is about, finds it in the load balancers, and plans. Touches nothing. */
export async function observeWorld(request: RunRequest, ports: RunPorts, tell: (event: RunEventBody) => void): Promise<World> {
  const { client, clock, random, loadBalancers } = ports
  const { namespace, select, acceptTemplateDrift } = request
  let listener = DEAF
  let assertOwned: (uid: string) => void = () => {
    throw new RunError('conflict', 'the run has not begun')
  }
  const stops: (() => Promise<void>)[] = []
  const stop = async (): Promise<void> => void (await Promise.all(stops.map((one) => one())))
  const onError = (error: Error, fatal: boolean): void => {
    tell({ type: 'warning', message: messageOf(error) })
    if (fatal) listener.onBlind(error)
  }
  const watched = { client, clock, random, namespace, onError }
  const openOptions = { client, clock, random, onError, acceptTemplateDrift }

  try {
    const named =
      'refs' in select
        ? await openNamed(
            select.refs.map(({ kind, name }): WorkloadRef => ({ kind, name, namespace })),
            openOptions,
          )
        : undefined
    for (const workload of named?.workloads ?? []) stops.push(() => workload.stop())
    const store = await openPodStore({
      ...watched,
      selector: named?.selector ?? { labelSelector: (select as { labelSelector: string }).labelSelector },
      onChange: (uid) => listener.onPod(uid),
      onGone: (uid) => listener.onGone(uid),
    })
    stops.push(() => store.stop())
    const endpoints = await openEndpointStore({ ...watched, onChange: (uids) => listener.onEndpoints(uids) })
    stops.push(() => endpoints.stop())

    const opened =
      named?.workloads ??
      (await openOwners(
        Array.from(store.all(), ({ pod }) => pod),
        openOptions,
      ))
    if (!named) for (const workload of opened) stops.push(() => workload.stop())
    const includes = (pod: PodView): boolean => (named ? named.includes(pod) : opened.some((workload) => workload.owns(pod)))
    const pods = [...store.all()].filter(({ pod }) => includes(pod))
    const workloads = opened.map((workload): AssessedWorkload => {
      const own = pods.flatMap(({ pod }) => (workload.owns(pod) ? [pod] : []))
      return { workload, assessment: workload.assess(request.images, own) }
    })
    const workloadOf = (pod: PodView): AssessedWorkload | undefined => workloads.find(({ workload }) => workload.owns(pod))
    const traffic = createTraffic({
      loadBalancers,
      allowUnbalanced: request.allowUnbalanced,
      assertOwned: (uid) => assertOwned(uid),
      tell,
    })

    const targets = new Map<string, JournalTarget[]>()
    const plan = buildPlan({
      namespace,
      workloads: workloads.map(({ workload }) => workload.ref),
      maxUnavailable: request.settings.maxUnavailable,
      pods: await planPods({ pods, workloadOf, traffic, ports, targets }),
      templates: workloads.flatMap(({ assessment }) => assessment.template ?? []),
      guarantees: loadBalancers.map(({ name, adapterName, adapter: { capabilities } }) => ({
        loadBalancer: name,
        adapter: adapterName,
        level: capabilities.guarantee,
        meaning: guarantees[capabilities.guarantee],
      })),
      warnings: workloads.flatMap(({ assessment }) => assessment.warnings),
      refusals: workloads.flatMap(({ assessment }) => assessment.refusals),
    })
    return {
      plan,
      workloads,
      store,
      endpoints,
      traffic,
      includes,
      targets,
      workloadOf,
      listen: (one) => (listener = one),
      setOwnership: (one) => (assertOwned = one),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

interface PlanPodsOptions {
  pods: readonly Observation[]
  workloadOf(pod: PodView): AssessedWorkload | undefined
  traffic: Traffic
  ports: Pick<RunPorts, 'loadBalancers'>
  /** Filled with what was found. */
  targets: Map<string, JournalTarget[]>
}

/** Finds in the load balancers what will have to be drained, and how it stands there. */
async function planPods({
  pods,
  workloadOf,
  traffic,
  ports: { loadBalancers },
  targets: known,
}: PlanPodsOptions): Promise<PlanPod[]> {
  const wanted = (pod: PodView): ContainerImage[] => workloadOf(pod)?.assessment.images ?? []
  const asked = pods.filter(
    ({ pod, stored }) => !pod.deleting && !pod.finished && !isOpen(stored) && changesFor(pod, wanted(pod)).length > 0,
  )
  const found = new Map<string, Found>()
  try {
    const answers = await traffic.find(asked.map(({ pod }) => pod))
    asked.forEach(({ pod }, index) => found.set(pod.uid, answers[index]!))
  } catch (error) {
    throw new RunError('preflight', `the load balancers could not be asked: ${messageOf(error)}`, { cause: error })
  }
  const standing = await snapshots([...found.values()], loadBalancers)
  return pods.map(({ pod, stored }): PlanPod => {
    const base = { pod, stored, images: wanted(pod) }
    if (stored.kind === 'read' && stored.journal.step !== 'closed') {
      const targets = stored.journal.targets.map(({ loadBalancer, target, untouched }) => ({
        loadBalancer,
        target,
        inRotation: !untouched,
      }))
      return { ...base, targets: { found: true, targets } }
    }
    const one = found.get(pod.uid) ?? { found: true, targets: [] }
    if (!one.found) return { ...base, targets: one }
    const recorded = one.targets.map(({ loadBalancer, target: { id, scope } }): JournalTarget => {
      const { prior, inRotation } = standing.get(JSON.stringify([loadBalancer, id])) ?? { prior: null, inRotation: true }
      return { loadBalancer, target: id, scope, prior, untouched: !inRotation }
    })
    known.set(pod.uid, recorded)
    const targets = recorded.map(({ loadBalancer, target, untouched }): PlannedTarget => ({
      loadBalancer,
      target,
      inRotation: !untouched,
    }))
    return { ...base, targets: { found: true, targets } }
  })
}

async function snapshots(
  found: readonly Found[],
  loadBalancers: RunPorts['loadBalancers'],
): Promise<Map<string, TargetSnapshot>> {
  const standing = new Map<string, TargetSnapshot>()
  for (const { name, adapter } of loadBalancers) {
    const targets = found
      .flatMap((one) => (one.found ? one.targets.filter(({ loadBalancer }) => loadBalancer === name) : []))
      .map(({ target }) => target)
    if (targets.length === 0) continue
    try {
      const taken = await adapter.snapshot(targets, { deadlineMs: 10_000, assertLive: () => {} })
      for (const [id, snapshot] of taken) standing.set(JSON.stringify([name, id]), snapshot)
    } catch (error) {
      throw new RunError('preflight', `the load balancer ${name} could not be asked: ${messageOf(error)}`, { cause: error })
    }
  }
  return standing
}

function isOpen(stored: Observation['stored']): boolean {
  return stored.kind === 'read' && stored.journal.step !== 'closed'
}
