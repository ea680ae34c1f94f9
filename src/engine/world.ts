import { ReflectorError, type ReflectorProblem } from '../kube/reflector-error.ts'
import { journalOf } from '../journal/journal.ts'
import type { Ledger } from '../journal/ledger.ts'
import type { PodView, ReadJournal } from '../pods/glossary.ts'
import { mayBeOpen } from '../pods/open-journal.ts'
import type { PodSelection } from '../observation/pod-record.ts'
import { KINDS } from '../workloads/kinds/index.ts'
import type { Kinds } from '../workloads/kinds/kinds.ts'
import { refOf } from '../workloads/kinds/ref.ts'
import { podSelectionIn } from '../workloads/label-selector.ts'
import { openNamed, openOwners } from '../workloads/open.ts'
import type { Availability } from './rollout/availability.ts'
import { createAvailability } from './rollout/availability.ts'
import type { Beside } from './rollout/beside.ts'
import { besideNamed, besideSelected } from './rollout/beside.ts'
import type { EndpointStore } from '../observation/endpoint-store.ts'
import { openEndpointStore } from '../observation/endpoint-store.ts'
import { reasonOf, RunError } from './errors.ts'
import type { RunEventBody } from './events.ts'
import type { JournalCount, TermOf } from './ledgers/late-intents.ts'
import { createJournalCount } from './ledgers/late-intents.ts'
import { namingUnfinished } from './ledgers/naming-unfinished.ts'
import { createNewcomers } from './newcomers.ts'
import type { Planning } from './planning.ts'
import { createPlanning } from './planning.ts'
import type { PodStore } from '../observation/pod-store.ts'
import { openPodStore } from '../observation/pod-store.ts'
import type { RunPorts, RunRequest } from './request.ts'
import type { Traffic } from './traffic/traffic.ts'
import { createTraffic } from './traffic/traffic.ts'

/** The listener for changes during a run. It is set once the run has begun. */
export interface WorldListener {
  onPod(uid: string): void
  onGone(uid: string): void
  onEndpoints(uids: Iterable<string>): void
  /** The pods became watchable or unwatchable, or a pod was looked for in the load balancers. */
  onSight(): void
  /** Reports whether the run waits for a change of a pod or of its endpoint. */
  isWaiting(): boolean
  /** The API server has refused a watch for so long that the run must end. A listener that is set later is called at once. */
  onBlind(error: RunError): void
}

/** The world as this run observes it, together with the plan. */
export interface World extends Planning {
  kinds: Kinds
  store: PodStore
  endpoints: EndpointStore
  traffic: Traffic
  includes(pod: PodView): boolean
  /** The pods of the same workloads that the run does not include. They fill the window too. */
  beside: Beside
  /** Reports whether the pod is not known to be in every load balancer. Ready pods without an answer in the plan are looked for. */
  isUnserved(pod: PodView): boolean
  availability: Availability
  /** Lists all watched objects anew. Resolves once the observation is current, or can never become current. */
  refresh(): Promise<void>
  /** The Leases are held, and the pods were observed since then. The ledgers decide which journals count. */
  own(ledgers: readonly Ledger[], owner: Owner): void
  /** The journal of a pod that was just read, as far as it counts. */
  journalOf(pod: PodView): ReadJournal
  /** The term below which drain intents on the pod are void: nothing was open on the pod, and no earlier owner could act. */
  boundOf: JournalCount['boundOf']
  /** Throws a RunError of kind `deadline` once a watch has been refused for too long. */
  assertWatched(): void
  listen(listener: WorldListener): void
  /** Sets the check before every effect. The check throws where the run may not act on the pod. */
  setOwnership(assertOwned: (uid: string) => void): void
  stop(): Promise<void>
}

/** This process as the owner of the Leases. */
export interface Owner {
  epochOf(pod: PodView): number
  termOf: TermOf
}

const DEAF: WorldListener = { onPod() {}, onGone() {}, onEndpoints() {}, onSight() {}, isWaiting: () => false, onBlind() {} }

/** Lists and watches the objects of the request, finds the pods in the load balancers, and plans. Changes nothing. */
export async function observeWorld(request: RunRequest, ports: RunPorts, tell: (event: RunEventBody) => void): Promise<World> {
  const { client, observation, clock, random, loadBalancers, queues, kinds = KINDS } = ports
  const { namespace, select, acceptTemplateDrift } = request
  let listener = DEAF
  let blind: RunError | undefined
  let isHeld = false
  let assertOwned: (uid: string) => void = () => {
    throw new Error('an effect before the run has begun')
  }
  const journals = createJournalCount()
  const stops: (() => Promise<void>)[] = []
  const stop = async (): Promise<void> => void (await Promise.all(stops.map((one) => one())))
  const onError = (error: Error, lasting: boolean): void => {
    // One cause holds all watches, so only the first held watch is reported. A quiet watch is no trouble.
    const isHeldAgain = isHeld && isProblem(error, 'held')
    isHeld ||= isProblem(error, 'held')
    const because = reasonOf(error)
    if (!isProblem(error, 'quiet') && !isHeldAgain) tell({ type: 'warning', reason: { code: 'watch-trouble', because } })
    if (!lasting || blind) return
    blind = new RunError('deadline', { code: 'watch-lost', because }, { cause: error })
    listener.onBlind(blind)
  }
  // Before the run begins, a pod that lost its label is not in the request any more.
  const keepsUnselected = (): boolean => listener !== DEAF
  const isAwaited = (): boolean => listener.isWaiting()
  const watched = { observation, namespace, keepsUnselected, counts: journals.count, isAwaited, onError }
  const openOptions = { client, kinds, observation, clock, random, onError, acceptTemplateDrift }

  try {
    const named =
      'refs' in select
        ? await openNamed(
            select.refs.map((id) => refOf(id, id.name, namespace)),
            openOptions,
          )
        : undefined
    for (const workload of named?.workloads ?? []) stops.push(() => workload.stop())
    const [store, endpoints] = await startTogether(
      openPodStore({
        ...watched,
        selector: named?.selector ?? podSelectionIn((select as { labelSelector: string }).labelSelector),
        onUnselected: ({ name }) => tell({ type: 'warning', reason: { code: 'no-longer-selected', pod: name } }),
        onChange: (uid) => listener.onPod(uid),
        onGone: (uid) => listener.onGone(uid),
        onSight: () => listener.onSight(),
      }),
      openEndpointStore({ ...watched, onChange: (uids) => listener.onEndpoints(uids) }),
    )
    stops.push(
      () => store.stop(),
      () => endpoints.stop(),
    )

    const opened =
      named?.workloads ??
      (await openOwners(
        Array.from(store.all(), ({ pod }) => pod),
        openOptions,
      ))
    if (!named) for (const workload of opened) stops.push(() => workload.stop())
    const isMeant = (pod: PodView): boolean => (named ? named.includes(pod) : opened.some((workload) => workload.owns(pod)))
    // An abort concerns only the pods that a run has left open.
    const includes = (pod: PodView): boolean =>
      isMeant(pod) && (request.abort === undefined || mayBeOpen(store.get(pod.uid)?.stored))
    const beside = named ? besideNamed(named, store) : await besideSelected(opened, store, openSiblings)
    const traffic = createTraffic({
      clock,
      loadBalancers,
      queues,
      allowUnbalanced: request.allowUnbalanced,
      assertOwned: (uid) => assertOwned(uid),
      tell,
    })
    const newcomers = createNewcomers({ clock, traffic, onLooked: () => listener.onSight() })
    stops.push(async () => newcomers.stop())
    const onFound = newcomers.know
    const availability = createAvailability(clock, () => opened)
    const planning = createPlanning({
      request,
      client,
      kinds,
      workloads: opened,
      store,
      beside,
      traffic,
      includes,
      loadBalancers,
      availability,
      onFound,
      onLedgers: journals.know,
    })
    await planning.replan().catch(async (error: unknown) => {
      const isHome = (uid: string): boolean => store.get(uid) !== undefined && !mayBeOpen(store.get(uid)!.stored)
      throw await namingUnfinished(error, { client, namespace, refs: opened.map(({ ref }) => ref), isHome })
    })
    return {
      ...planning,
      kinds,
      own(ledgers, { termOf }) {
        journals.know(ledgers)
        // The stores of a label selector also have pods of other workloads.
        const seen = [...store.all(), ...beside.all()].filter(({ pod }) => planning.workloadOf(pod) !== undefined)
        journals.own(termOf, seen)
      },
      boundOf: journals.boundOf,
      journalOf: (pod) => journals.count(pod, journalOf(pod)),
      store,
      endpoints,
      traffic,
      includes,
      beside,
      availability,
      isUnserved: (pod) => !planning.drainsNone() && newcomers.isUnserved(pod),
      operatorOut(uid) {
        const pod = store.get(uid)?.pod
        const planned = planning.operatorOut(uid)
        return planned === 'none' && pod !== undefined ? newcomers.operatorOut(pod) : planned
      },
      async refresh() {
        const parts = [store, endpoints, beside, ...opened]
        await Promise.all(parts.map((one) => one.refresh()))
      },
      assertWatched() {
        if (blind) throw blind
      },
      listen(one) {
        listener = one
        if (blind) one.onBlind(blind)
      },
      setOwnership: (one) => (assertOwned = one),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }

  async function openSiblings(selector: PodSelection): Promise<PodStore> {
    const onChange = (): void => listener.onSight()
    const siblings = await openPodStore({ ...watched, selector, onChange, onGone: onChange, onSight: onChange })
    stops.push(() => siblings.stop())
    return siblings
  }
}

function isProblem(error: Error, problem: ReflectorProblem): boolean {
  return error instanceof ReflectorError && error.problem === problem
}

interface Stoppable {
  stop(): Promise<void>
}

/** Resolves with both, or rejects. Where one fails, the other is stopped. */
async function startTogether<A extends Stoppable, B extends Stoppable>(one: Promise<A>, other: Promise<B>): Promise<[A, B]> {
  const started = await Promise.allSettled([one, other])
  if (started[0].status === 'fulfilled' && started[1].status === 'fulfilled') return [started[0].value, started[1].value]
  await Promise.all(started.map((result) => (result.status === 'fulfilled' ? result.value.stop() : undefined)))
  throw (started.find(({ status }) => status === 'rejected') as PromiseRejectedResult).reason
}
