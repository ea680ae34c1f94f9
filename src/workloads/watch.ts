import type { ObjectRecord } from '../kube/reflector.ts'
import { KubeError } from '../kube/errors.ts'
import { field, stringField } from '../kube/json.ts'
import type { Feed, FeedUser } from '../observation/feed.ts'
import type { WorkloadRef } from '../plan/plan.ts'
import { type Changes, createChanges } from './changes.ts'
import { WorkloadError, namingTheRight } from './errors.ts'
import { type LabelSelector, labelSelectorQuery } from './label-selector.ts'
import type { OpenOptions } from './open-options.ts'
import type { Workload } from './workload.ts'
import { type WorkloadRecord, workloadRecord } from './records.ts'
import type { Resource } from './resources.ts'
import { displayName } from '../pods/workload-id.ts'

/** The view of one workload: its object, and the objects that its controller made for it. */
export interface WorkloadWatch<R extends ObjectRecord> {
  readonly uid: string
  /** The selector, which cannot change. */
  readonly selector: LabelSelector
  readonly changes: Changes
  /** The newest known version; undefined after the deletion. */
  newest(): WorkloadRecord | undefined
  counted: Workload['counted']
  /** The objects that the controller made for the workload, such as ControllerRevisions. */
  children(): Iterable<R>
  /** Applies an answer of the API server. */
  observe(raw: unknown): WorkloadRecord
  /** True if the workload's object is current, apart from the lag of a watch. */
  isCurrent(): boolean
  /** True if it is not current because watching it failed. */
  isBroken(): boolean
  /** Reads the workload and its children anew. */
  refresh(): Promise<void>
  stop(): Promise<void>
}

export interface WatchKind<R extends ObjectRecord> {
  resource: Resource
  childResource: Resource
  decodeChild: (raw: unknown) => R
  /** The uid of the workload that a child belongs to. */
  ownerOf: (child: R) => string | undefined
}

/**
 * Opens one feed for the workload and one for its children; other users may share them. Rejects with a WorkloadError if the workload does
 * not exist, or the user may not see it.
 */
export async function watchWorkload<R extends ObjectRecord>(
  ref: WorkloadRef,
  kind: WatchKind<R>,
  options: OpenOptions,
): Promise<WorkloadWatch<R>> {
  const changes = createChanges()
  const { observation } = options
  const started: { stop(): Promise<void>; refresh(): Promise<void> }[] = []
  const stop = async (): Promise<void> => void (await Promise.all(started.map((feed) => feed.stop())))

  async function start<T extends ObjectRecord>(
    resource: Resource,
    decode: (raw: unknown) => T,
    selector: { labelSelector?: string; fieldSelector?: string },
    user: Pick<FeedUser<T>, 'onEvent' | 'concerns'>,
  ): Promise<Feed<T>> {
    const naming = (error: unknown): unknown => namingTheRight(error, ['list', 'watch'], resource.name, ref.namespace)
    const open = (what: typeof selector): Promise<Feed<T>> =>
      observation.open(
        { path: resource.collection(ref.namespace), decode, ...what },
        {
          ...user,
          onSight: changes.notify,
          isAwaited: changes.isAwaited,
          onError(error, lasting) {
            options.onError(error, lasting)
            if (lasting) changes.fail(naming(error) as Error)
          },
        },
      )
    try {
      // A user with access to one object by its name may lack the right to list all of them.
      const feed =
        observation.scope === 'request'
          ? await open(selector)
          : await open({}).catch((error: unknown) => {
              if (!(error instanceof KubeError) || error.status !== 403) throw error
              return open(selector)
            })
      started.push(feed)
      return feed
    } catch (error) {
      throw naming(error)
    }
  }

  try {
    const named = { fieldSelector: `metadata.name=${ref.name}` }
    const objects = await start(kind.resource, workloadRecord, named, {
      onEvent({ record }) {
        if (record.name === ref.name) changes.notify()
      },
      concerns: (metadata) => stringField(metadata, 'name') === ref.name,
    })
    const found = [...objects.records().values()].find(({ name }) => name === ref.name)
    if (!found) throw notFound(ref)
    const { uid, selector } = found
    /** The children of this workload among the records of the feed, so that a lookup need not scan those of other workloads. */
    const own = new Map<string, R>()
    const labelled = { labelSelector: labelSelectorQuery(selector) }
    await start(kind.childResource, kind.decodeChild, labelled, {
      onEvent({ type, record }) {
        const isOwn = type !== 'deleted' && kind.ownerOf(record) === uid
        if (isOwn) own.set(record.uid, record)
        else if (!own.delete(record.uid)) return
        changes.notify()
      },
      // Unreadable revisions of other workloads do not concern this one.
      concerns(metadata) {
        const owners = field(metadata, 'ownerReferences')
        return Array.isArray(owners) && owners.some((owner) => stringField(owner, 'uid') === uid)
      },
    })
    return {
      uid,
      selector,
      changes,
      newest: () => objects.records().get(uid),
      counted() {
        const workload = objects.records().get(uid)
        // A controller that has not observed the newest spec may count by an older `minReadySeconds`.
        const isCounted = workload !== undefined && objects.isCurrent() && workload.observedGeneration >= workload.generation
        return isCounted ? workload.counted : undefined
      },
      children: () => own.values(),
      observe(raw) {
        const record = objects.observe(raw)
        changes.notify()
        return record
      },
      isCurrent: objects.isCurrent,
      isBroken: objects.isBroken,
      refresh: async () => void (await Promise.all(started.map((feed) => feed.refresh()))),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

export function notFound(ref: WorkloadRef): WorkloadError {
  const { namespace } = ref
  return new WorkloadError('not-found', { code: 'no-such-workload', workload: displayName(ref), namespace })
}
