import { type ObjectRecord, type Reflector, createReflector } from '../kube/reflector.ts'
import type { WorkloadRef } from '../plan/plan.ts'
import { type Changes, createChanges } from './changes.ts'
import { WorkloadError, namingTheRight } from './errors.ts'
import { type LabelSelector, labelSelectorQuery } from './label-selector.ts'
import type { OpenOptions } from './open-options.ts'
import type { Workload } from './workload.ts'
import { type WorkloadRecord, workloadRecord } from './records.ts'
import { type Resource, displayName } from './resources.ts'

/** The watches of one workload: on its own object, and on what its controller makes for it. */
export interface WorkloadWatch<R extends ObjectRecord> {
  readonly uid: string
  /** As it was when it was opened; it cannot change. */
  readonly selector: LabelSelector
  readonly changes: Changes
  /** The newest known version, or undefined once it is gone. */
  newest(): WorkloadRecord | undefined
  counted: Workload['counted']
  /** What its controller made for it: ControllerRevisions or ReplicaSets, those of others among them. */
  children(): Iterable<R>
  /** Takes in an answer of the API server. */
  observe(raw: unknown): WorkloadRecord
  /** What is known of its own object is known of now. */
  isCurrent(): boolean
  /** It is not, since it could not be watched. */
  isBroken(): boolean
  /** Lists both anew. */
  refresh(): Promise<void>
  stop(): Promise<void>
}

export interface WatchKind<R extends ObjectRecord> {
  resource: Resource
  childResource: Resource
  decodeChild: (raw: unknown) => R
}

/** One LIST and one WATCH each. Rejects with a WorkloadError where there is no such workload, or no right to see it. */
export async function watchWorkload<R extends ObjectRecord>(
  ref: WorkloadRef,
  kind: WatchKind<R>,
  options: OpenOptions,
): Promise<WorkloadWatch<R>> {
  const changes = createChanges()
  const started: Reflector<ObjectRecord>[] = []
  const stop = async (): Promise<void> => void (await Promise.all(started.map((reflector) => reflector.stop())))

  async function start<T extends ObjectRecord>(
    resource: Resource,
    decode: (raw: unknown) => T,
    selector: { labelSelector?: string; fieldSelector?: string },
  ): Promise<Reflector<T>> {
    const naming = (error: unknown): unknown => namingTheRight(error, 'list and watch', resource.name, ref.namespace)
    const reflector = createReflector<T>({
      client: options.client,
      clock: options.clock,
      random: options.random,
      path: resource.collection(ref.namespace),
      ...selector,
      decode,
      onEvent: changes.notify,
      onCurrent: changes.notify,
      isAwaited: changes.isAwaited,
      onError(error, fatal) {
        options.onError(error, fatal)
        if (fatal) changes.fail(naming(error) as Error)
      },
    })
    started.push(reflector)
    try {
      await reflector.start()
    } catch (error) {
      throw naming(error)
    }
    return reflector
  }

  try {
    const objects = await start(kind.resource, workloadRecord, { fieldSelector: `metadata.name=${ref.name}` })
    const [found] = objects.records().values()
    if (!found) throw notFound(ref)
    const { uid, selector } = found
    const children = await start(kind.childResource, kind.decodeChild, { labelSelector: labelSelectorQuery(selector) })
    return {
      uid,
      selector,
      changes,
      newest: () => objects.records().get(uid),
      counted() {
        const workload = objects.records().get(uid)
        // A controller that has not seen the newest spec counts by another `minReadySeconds`, perhaps.
        const isCounted = workload !== undefined && objects.isCurrent() && workload.observedGeneration >= workload.generation
        return isCounted ? workload.counted : undefined
      },
      children: () => children.records().values(),
      observe(raw) {
        const record = objects.observe(raw)
        changes.notify()
        return record
      },
      isCurrent: () => objects.isCurrent(),
      isBroken: () => objects.isBroken(),
      refresh: async () => void (await Promise.all(started.map((reflector) => reflector.refresh()))),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

export function notFound(ref: WorkloadRef): WorkloadError {
  return new WorkloadError(
    'not-found',
    `there is no ${displayName(ref)} in namespace ${ref.namespace}; check the name, and the namespace (-n)`,
  )
}
