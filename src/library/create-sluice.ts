import type { z } from 'zod'
import { reasonWords } from '../report/words/words.ts'
import type { ConfigSettings } from '../config/config.ts'
import { isPromise } from '../config/wording.ts'
import { createLoadBalancers } from '../config/create-load-balancers.ts'
import type { DoctorReport } from '../doctor/report.ts'
import type { RunEvent } from '../engine/events.ts'
import type { PreparedRun, RunPorts } from '../engine/run.ts'
import type { Status } from '../engine/status/status.ts'
import { withinLocks } from '../engine/locks/within-locks.ts'
import { withinRates } from '../engine/traffic/call-budget.ts'
import { createScopeQueues } from '../engine/traffic/scope-queues.ts'
import type { Explanation } from '../explain/explanation.ts'
import { unlessAborted } from '../kube/unless-aborted.ts'
import { withSignal } from '../kube/with-signal.ts'
import { createObservation } from '../observation/observation.ts'
import { systemClock, systemRandom } from '../ports/system.ts'
import type { KnownRun } from '../report/from-ledgers.ts'
import { KINDS } from '../workloads/kinds/index.ts'
import { comparePlans } from './compare-plans.ts'
import { connectLocks, type ConnectedLocks } from './connect-locks.ts'
import type { Cluster } from './cluster.ts'
import { PlanChangedError, SluiceClosedError } from './errors.ts'
import type { CallOptions, ExplainOptions, PlanOptions, SluiceOptions, AbortOptions, RunOptions } from './options.ts'
import type { Abort, About, GivenOrder, NoOrder, OrderPorts } from './orders.ts'
import { inWords } from './in-words.ts'
import type { Ordered } from './ordered.ts'
import { isSameWorkload } from '../pods/workload-id.ts'
import { assertUndoes, isPlan, type PlannedUpgrade } from './plan.ts'
import { processIdentity } from './process-identity.ts'
import type { RecordedReport } from './records.ts'
import { assertPlan } from './request/given-plan.ts'
import { abortOptions, callOptions, explainOptions, planOptions, runOptions } from './request/options.ts'
import { parseChoice, parseNamed, parseNamespace } from './request/parse-choice.ts'
import { assertShape } from './request/parsed.ts'
import { checkedConfig, sluiceOptions } from './request/sluice-options.ts'
import { type DoctorChoice, parseDoctor } from './request/parse-doctor.ts'
import { parseReport, type ReportRequest } from './request/parse-report.ts'
import { abortSettings, parseAbort, parseUpgrade } from './request/parse-upgrade.ts'
import { RequestError } from './request/request-error.ts'
import type { AbortRequest, UndoRequest, UpgradeRequest, WorkloadChoice } from './request/upgrade-request.ts'
import { type ExplainedObject, parseExplain } from './request/parse-explain.ts'
import { type Run, type RunSource, startRun } from './run.ts'

/** Upgrades of one cluster with one config. Any number of plans and runs may be under way at once. */
export interface Sluice {
  readonly cluster: Cluster
  /**
   * Plans an upgrade, or with `undo` an undo, and gives the reasons. Changes nothing. The `refusals` of the plan say why it is refused.
   * Rejects with a RequestError, and with a typed error if an object or a load balancer cannot be found or read.
   */
  plan(request: UpgradeRequest, options?: PlanOptions): Promise<PlannedUpgrade>
  /**
   * Upgrades pods. The run makes a plan first, and carries it out. If a plan was given and the new plan's actions differ from it, `result`
   * rejects with a PlanChangedError and nothing is changed. Never throws: every error rejects `result`.
   */
  upgrade(planOrRequest: PlannedUpgrade | UpgradeRequest, options?: RunOptions): Run
  /**
   * Undoes an earlier run, as `upgrade` with `undo` does. If the given plan is not the plan of an undo, `result` rejects with a
   * RequestError.
   */
  undo(planOrRequest: PlannedUpgrade | UndoRequest, options?: RunOptions): Run
  /**
   * Orders the open runs of these workloads to end, in whichever process they are, and waits for their end. The outcome is `abandoned` if
   * no living process has the runs; `end` of the answer ends them here. Rejects with a RequestError, WorkloadError, RunError or KubeError.
   */
  abort(about: AbortRequest, options?: AbortOptions): Promise<Abort>
  /** Orders the open runs of these workloads to start no new pod, in whichever process they are. Rejects as `abort` does. */
  pause(about: WorkloadChoice, options?: CallOptions): Promise<GivenOrder | NoOrder>
  /**
   * Ends a pause. Rejects as `abort` does, and with a RunError if runs are open and none of them is paused. If no run is open, the outcome
   * is `none`, as for the other orders.
   */
  resume(about: WorkloadChoice, options?: CallOptions): Promise<GivenOrder | NoOrder>
  /** Lists the records of sluice in the cluster: of these workloads, or without a name of all workloads of the namespace. */
  status(about?: Pick<WorkloadChoice, 'workload' | 'namespace'>, options?: CallOptions): Promise<Status>
  /**
   * Checks the cluster, the load balancers of the config if there is one, and the records for dangers to requests or upgrades. The report
   * lists everything that is not readable. Writes nothing, except the Service of a `probe`.
   */
  doctor(about?: DoctorChoice, options?: CallOptions): Promise<DoctorReport>
  /** The report of one run, from the records in the cluster. Rejects with a NotOnRecordError if the record is missing or not readable. */
  report(request: ReportRequest, options?: CallOptions): Promise<RecordedReport>
  /** The recorded runs of a namespace, the newest first. */
  runs(about?: Pick<WorkloadChoice, 'namespace'>, options?: CallOptions): Promise<KnownRun[]>
  /**
   * Explains whether a pod, or the pods of a Service or a workload, are in rotation: where, since when and by which writer, or why not.
   * Reads only; without a config it reads no load balancer. Rejects with a RequestError, and with a WorkloadError if the object is missing
   * or not readable.
   */
  explain(about: ExplainedObject, options?: ExplainOptions): Promise<Explanation>
  /**
   * Ends plans and other calls at once, and interrupts runs with their grace period; then closes the load balancers and the cluster.
   * Resolves when everything is closed. Calls after `close` reject with a SluiceClosedError.
   */
  close(): Promise<void>
}

interface Loaded extends ConnectedLocks {
  settings: ConfigSettings
}

function problemOf(check: () => void): unknown {
  try {
    return void check()
  } catch (error) {
    return error
  }
}

/** Calls a callback of the program. The error of a callback is rethrown outside of the run, so that it does not break the run. */
function outside(callback: () => void): void {
  try {
    callback()
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}

/** Opens nothing yet: the first call that needs load balancers or watches opens them. Throws a RequestError for invalid options. */
export function createSluice(options: SluiceOptions): Sluice {
  assertShape(sluiceOptions, options, 'options')
  const { cluster, config, onWarning, watch: scope = 'namespace', clock = systemClock, random = systemRandom } = options
  const { client } = cluster
  const { identity = processIdentity(), by = identity, kinds = KINDS } = options
  const ofCluster = { namespace: cluster.namespace, kinds }
  const observation = createObservation({ client, clock, random, scope })
  const queues = createScopeQueues(clock)
  const closing = new AbortController()
  const underWay = new Set<Promise<unknown>>()
  /** The runs of this process that are under way. */
  const atWork = new Set<PreparedRun>()
  let loading: Promise<Loaded> | undefined
  let closed: Promise<void> | undefined

  function load(): Promise<Loaded> {
    loading ??= loadAll().catch((error: unknown) => {
      // The next call loads the config anew, because its file may have been corrected.
      loading = undefined
      throw error
    })
    return loading
  }

  async function loadAll(): Promise<Loaded> {
    if (config === undefined)
      throw new RequestError([{ field: 'config', message: 'is missing', hint: 'createSluice needs it for plans and runs' }])
    const read = typeof config === 'function' ? await config() : config
    assertShape(checkedConfig, { config: read }, 'config')
    const { loadBalancers, close } = await connectLocks(read, createLoadBalancers(read), { cluster, clock, random })
    // A call waits for its rate first, and then takes the lock, because a Lease that is held meanwhile keeps other writers waiting.
    return {
      loadBalancers: withinRates(withinLocks(loadBalancers, { clock, random, identity }), clock),
      close,
      settings: read.settings,
    }
  }

  function portsOf({ loadBalancers }: Loaded, onEvent: (event: RunEvent) => void): RunPorts {
    return { client, kinds, observation, loadBalancers, queues, clock, random, identity, onEvent }
  }

  function warn(event: RunEvent): void {
    if (event.type !== 'warning' || onWarning === undefined) return
    const { reason, pod } = event
    outside(() => onWarning({ reason, message: reasonWords(reason), ...(pod === undefined ? {} : { pod }) }))
  }

  /** Registers work that `close` waits for. */
  function tracked<Value>(work: Promise<Value>): Promise<Value> {
    const settled = Promise.allSettled([work])
    underWay.add(settled)
    void settled.finally(() => underWay.delete(settled))
    return work
  }

  /** Makes a call that its signal, or `close`, ends at once. */
  async function call<Value>(
    given: CallOptions,
    work: (signal: AbortSignal) => Promise<Value>,
    schema: z.ZodType = callOptions,
  ): Promise<Value> {
    assertShape(schema, given, 'options')
    const { signal } = given
    const ended = signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal])
    ended.throwIfAborted()
    const worded = work(ended).catch((error: unknown) => {
      throw inWords(error)
    })
    return unlessAborted(tracked(worded), ended)
  }

  function orderPorts(signal: AbortSignal): OrderPorts {
    return { client: withSignal(client, () => signal), clock, by, signal }
  }

  /** Tells the runs of this process about an order at once, before the next renewal of their Leases. */
  async function tellOwn({ workloads }: Pick<Ordered, 'workloads'>, namespace: string): Promise<void> {
    const isMeant = ({ plan }: PreparedRun): boolean =>
      plan.namespace === namespace && plan.workloads.some((one) => workloads.some((meant) => isSameWorkload(one, meant)))
    await Promise.all([...atWork].filter(isMeant).map((run) => run.hear()))
  }

  function order(
    about: WorkloadChoice,
    own: CallOptions,
    give: (what: About, ports: OrderPorts) => Promise<GivenOrder | NoOrder>,
  ): Promise<GivenOrder | NoOrder> {
    return call(own, async (signal) => {
      const what = { ...parseChoice(about, ofCluster), kinds }
      const given = await give(what, orderPorts(signal))
      if (given.outcome === 'ordered') await tellOwn(given, what.namespace)
      return given
    })
  }

  function start(
    request: UpgradeRequest,
    source: Pick<RunSource, 'accept'> & {
      /** Throws if the run must not be prepared. */
      check?(): void
      prepare(loaded: Loaded, ports: RunPorts, signal: AbortSignal): Promise<PreparedRun>
    },
    given: RunOptions = {},
  ): Run {
    const wrong = problemOf(() => assertShape(runOptions, given, 'options'))
    const { signal, ...own } = wrong === undefined ? given : {}
    let prepared: PreparedRun | undefined
    const run = startRun(
      {
        request,
        by,
        accept: source.accept,
        async prepare({ signal: ended, onEvent }) {
          if (wrong !== undefined) throw wrong
          source.check?.()
          const loaded = await unlessAborted(load(), ended)
          prepared = await source.prepare(loaded, portsOf(loaded, onEvent), ended)
          atWork.add(prepared)
          return prepared
        },
        onEvent: warn,
        onEnd(end) {
          if (prepared !== undefined) atWork.delete(prepared)
          void tracked(end)
        },
      },
      { ...own, signal: signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal]) },
    )
    void tracked(run.result)
    return run
  }

  function upgrade(given: PlannedUpgrade | UpgradeRequest, own?: RunOptions, check?: (planned: PlannedUpgrade) => void): Run {
    const planned = isPlan(given) ? given : undefined
    const request = planned?.request ?? (given as UpgradeRequest)
    return start(
      request,
      {
        check() {
          if (planned === undefined) return
          assertPlan(planned)
          check?.(planned)
        },
        accept(now) {
          const changes = planned === undefined ? [] : comparePlans(planned, now)
          if (changes.length > 0) throw new PlanChangedError(changes, now)
        },
        async prepare(loaded, ports, signal) {
          const { prepareRun } = await import('../engine/run.ts')
          return prepareRun(parseUpgrade(request, { ...ofCluster, ...loaded }), ports, signal)
        },
      },
      own,
    )
  }

  return {
    cluster,
    upgrade: (given, own) => upgrade(given, own),
    plan: (request, own = {}) => {
      const work = async (signal: AbortSignal): Promise<PlannedUpgrade> => {
        const { onEvent } = own
        const loaded = await load()
        const { prepareRun } = await import('../engine/run.ts')
        const { imagesOnNodes } = await import('../workloads/images-on-nodes.ts')
        const parsed = parseUpgrade(request, { ...ofCluster, ...loaded })
        const tell = (event: RunEvent): void => {
          warn(event)
          if (onEvent !== undefined) outside(() => onEvent(event))
        }
        const prepared = await prepareRun(parsed, portsOf(loaded, tell), signal)
        try {
          const onNodes = await imagesOnNodes(
            withSignal(client, () => signal),
            prepared.plan,
          )
          return { ...prepared.plan, imagesOnNodes: onNodes, request, holders: prepared.holders }
        } finally {
          // The caller need not wait for this end; `close` waits for it.
          void tracked(prepared.close())
        }
      }
      return call(own, work, planOptions)
    },
    undo(given, own) {
      if (isPlan(given)) return upgrade(given, own, assertUndoes)
      // `upgrade` refuses a value that is no request, with the value as it was given.
      if (typeof given !== 'object' || given === null || isPromise(given)) return upgrade(given, own)
      const { run, ...request } = given
      return upgrade({ ...request, undo: run === undefined ? {} : { run } }, own)
    },
    abort: (about, own = {}) => {
      const work = async (signal: AbortSignal): Promise<Abort> => {
        const what = { ...parseAbort(about, ofCluster), kinds }
        const [{ abortRuns }, { prepareAbort }] = await Promise.all([import('./orders.ts'), import('../engine/orders/abort.ts')])
        const andTold: AbortOptions = {
          ...own,
          onOrdered(ordered) {
            own.onOrdered?.(ordered)
            void tellOwn(ordered, what.namespace)
          },
        }
        return abortRuns(what, orderPorts(signal), andTold, ({ open, runs, seen }, ofRun) =>
          start(
            about,
            {
              accept: () => {},
              prepare: ({ settings }, ports, preparing) =>
                prepareAbort(
                  { namespace: what.namespace, settings: abortSettings(about, settings), by, open, runs, seen },
                  ports,
                  preparing,
                ),
            },
            ofRun,
          ),
        )
      }
      return call(own, work, abortOptions)
    },
    pause: (about, own = {}) => order(about, own, async (what, ports) => (await import('./orders.ts')).pauseRuns(what, ports)),
    resume: (about, own = {}) => order(about, own, async (what, ports) => (await import('./orders.ts')).resumeRuns(what, ports)),
    status: (about = {}, own = {}) =>
      call(own, async (signal) => {
        const named = parseNamed(about, ofCluster)
        const { readStatus } = await import('../engine/status/read-status.ts')
        return readStatus(named, { client: withSignal(client, () => signal), kinds, clock })
      }),
    doctor: (about = {}, own = {}) =>
      call(own, async (signal) => {
        const wanted = parseDoctor(about, ofCluster)
        const loaded = config === undefined ? undefined : await load()
        const { examine } = await import('../doctor/doctor.ts')
        const balanced = loaded && { loadBalancers: loaded.loadBalancers }
        return examine(wanted, { client, clock, random, kinds, signal, ...balanced })
      }),
    report: (request, own = {}) =>
      call(own, async (signal) => {
        const { wanted, namespace } = parseReport(request, ofCluster)
        const { reportRun } = await import('./records.ts')
        return reportRun(wanted, request.failures ?? [], { client: withSignal(client, () => signal), namespace })
      }),
    runs: (about = {}, own = {}) =>
      call(own, async (signal) => {
        const namespace = parseNamespace(about, ofCluster)
        const { listRuns } = await import('./records.ts')
        return listRuns({ client: withSignal(client, () => signal), namespace })
      }),
    explain: (about, own = {}) => {
      const work = async (signal: AbortSignal): Promise<Explanation> => {
        const { onWatching } = own
        const request = parseExplain(about, ofCluster)
        const loadBalancers = config === undefined ? [] : (await load()).loadBalancers
        const { readExplanation } = await import('../explain/read/read-explanation.ts')
        return readExplanation(request, {
          client: withSignal(client, () => signal),
          kinds,
          clock,
          loadBalancers,
          queues,
          signal,
          ...(onWatching === undefined ? {} : { onWatching: (watch) => outside(() => onWatching(watch)) }),
        })
      }
      return call(own, work, explainOptions)
    },
    close() {
      closed ??= closeAll()
      return closed
    },
  }

  async function closeAll(): Promise<void> {
    closing.abort(new SluiceClosedError())
    while (underWay.size > 0) await Promise.all(underWay)
    const loaded = await loading?.catch(() => undefined)
    await Promise.allSettled((loaded?.loadBalancers ?? []).map(({ adapter }) => adapter.close()))
    await loaded?.close()
    await cluster.close()
  }
}
