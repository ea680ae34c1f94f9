import type { StoredPod } from '../../endpoints/stored.ts'
import { isReady } from '../../endpoints/readiness.ts'
import { hasSelector } from '../../endpoints/selectors.ts'
import { isByController } from '../../endpoints/stored-slices.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ClusterView, EndpointsKind, EntryState } from '../cluster/cluster-view.ts'
import { type EndpointsObject, parseEndpointsObject } from '../decide/endpoints-object.ts'
import { ObjectError } from '../decide/object-error.ts'
import { entriesOf, type Entry, formerStates } from '../decide/entries.ts'
import { serviceNameOf } from '../decide/facts.ts'
import { readsPods } from '../rules/reads-pods.ts'
import type { RuleSet } from '../rules/rule-set.ts'
import type { WaitOutcome } from './admission-event.ts'
import type { AdmissionRequest } from './review.ts'

/**
 * Lets a request wait whose pods this process may see some milliseconds later than the controller that writes. A decision by older pods would
 * stand until a second look.
 */
export interface PodWaits {
  /** Waits until the pods of the request are seen as it has them, or the time is over. Undefined where there is nothing to wait for. */
  settle(request: AdmissionRequest, rules: RuleSet, longestMs: number): Promise<WaitOutcome> | undefined
  /** To be called after each change of a pod in the view. `now` is undefined for a pod that is gone. */
  onPod(uid: string, before: StoredPod | undefined, now: StoredPod | undefined): void
}

export interface PodWaitsOptions {
  clock: Pick<Clock, 'now' | 'setTimeout' | 'clearTimeout'>
  cluster: Pick<ClusterView, 'pod' | 'service'>
  /** The requests that wait at the same time. Default: 32. */
  mostWaiting?: number
}

const MOST_WAITING = 32
/** A controller may write by pods that are so much older than those which this process has seen. */
const CONTROLLER_LAG_MS = 2_000
/** Anybody may send reviews, so what is kept of them is bounded. */
const MOST_KNOWN = 10_000

interface Waiter {
  /** The endpoints whose pods are not seen yet as the request has them, by the UID of the pod. */
  readonly pending: Map<string, Entry>
  readonly subject: EndpointsObject
  end(outcome: WaitOutcome): void
}

/** A change of a pod that this process has seen: `wasReady` is undefined where the pod is gone. */
interface Turn {
  readonly at: number
  readonly wasReady?: boolean
}

export function createPodWaits({ clock, cluster, mostWaiting = MOST_WAITING }: PodWaitsOptions): PodWaits {
  const waiters = new Map<string, Set<Waiter>>()
  let waiting = 0
  const turns = new Map<string, Turn>()
  /** What a wait was in vain for, by the endpoint. It is not waited for again until the pod changes. */
  const inVain = new Map<string, string>()

  function publishesAll({ kind, object }: EndpointsObject, name: string | undefined): boolean {
    if (kind !== 'Endpoints' || name === undefined) return false
    return cluster.service(object.metadata.namespace, name)?.spec.publishNotReadyAddresses === true
  }

  /** The pod is not seen as the endpoint has it, and a later event of the pod may show it so. */
  function isBehind(subject: EndpointsObject, entry: Entry): boolean {
    const { uid } = entry.pod!
    const pod = cluster.pod(uid)
    const turn = turns.get(uid)
    const isRecent = turn !== undefined && clock.now() - turn.at < CONTROLLER_LAG_MS
    if (pod === undefined) return !isRecent
    const isLeaving = pod.metadata.deletionTimestamp !== undefined
    // A deletion is never taken back, so the controller is behind.
    if (isLeaving && !entry.terminating) return false
    const isSlice = subject.kind === 'EndpointSlice'
    if (isSlice && entry.terminating && !isLeaving) return true
    if (!isSlice && publishesAll(subject, serviceNameOf(subject))) return false
    const wished = isSlice ? entry.wished.serving : entry.wished.ready
    return wished !== isReady(pod) && !(isRecent && turn.wasReady === wished)
  }

  function keyOf(kind: EndpointsKind, uid: string): string {
    return `${kind} ${uid}`
  }

  function contentOf({ pod, wished, terminating }: Entry): string {
    return [versionOf(cluster.pod(pod!.uid)), wished.ready, wished.serving, terminating].join(' ')
  }

  /** The endpoints that the write changes, and whose pods are behind. An endpoint that stays as it is stored was decided about before. */
  function pendingOf(subject: EndpointsObject, old: EndpointsObject | undefined): Map<string, Entry> {
    const pending = new Map<string, Entry>()
    const formerOf = formerStates(old === undefined ? [] : entriesOf(old))
    for (const entry of entriesOf(subject)) {
      if (entry.pod === undefined || isSame(entry.wished, formerOf(entry)) || !isBehind(subject, entry)) continue
      if (inVain.get(keyOf(subject.kind, entry.pod.uid)) !== contentOf(entry)) pending.set(entry.pod.uid, entry)
    }
    return pending
  }

  function wait(pending: Map<string, Entry>, subject: EndpointsObject, longestMs: number): Promise<WaitOutcome> {
    return new Promise((resolve) => {
      const waiter: Waiter = {
        pending,
        subject,
        end(outcome) {
          clock.clearTimeout(timer)
          waiting -= 1
          for (const [uid, entry] of pending) {
            leave(uid, waiter)
            put(inVain, keyOf(subject.kind, uid), contentOf(entry))
          }
          resolve(outcome)
        },
      }
      waiting += 1
      for (const uid of pending.keys()) {
        const some = waiters.get(uid)
        if (some === undefined) waiters.set(uid, new Set([waiter]))
        else some.add(waiter)
      }
      const timer = clock.setTimeout(() => waiter.end('timed-out'), longestMs)
    })
  }

  function leave(uid: string, waiter: Waiter): void {
    const some = waiters.get(uid)
    some?.delete(waiter)
    if (some?.size === 0) waiters.delete(uid)
  }

  return {
    settle({ kind, object, oldObject }, rules, longestMs) {
      if (kind === undefined || longestMs <= 0 || rules.mode === 'audit' || !readsPods(rules)) return undefined
      const subject = subjectOf(kind, object)
      if (subject === undefined || !isOfController(subject, cluster)) return undefined
      const pending = pendingOf(subject, subjectOf(kind, oldObject))
      if (pending.size === 0) return undefined
      return waiting < mostWaiting ? wait(pending, subject, longestMs) : Promise.resolve('crowded')
    },
    onPod(uid, before, now) {
      const wasReady = before !== undefined && isReady(before)
      if (now === undefined) put(turns, uid, { at: clock.now() })
      else if (before !== undefined && wasReady !== isReady(now)) put(turns, uid, { at: clock.now(), wasReady })
      for (const waiter of waiters.get(uid) ?? []) {
        if (now !== undefined && isBehind(waiter.subject, waiter.pending.get(uid)!)) continue
        waiter.pending.delete(uid)
        leave(uid, waiter)
        if (waiter.pending.size === 0) waiter.end('seen')
      }
    },
  }
}

function isSame({ ready, serving }: EntryState, other: EntryState | undefined): boolean {
  return ready === other?.ready && serving === other.serving
}

/** An object without the form of its kind fails in the decision. */
function subjectOf(kind: EndpointsKind, object: unknown): EndpointsObject | undefined {
  try {
    return parseEndpointsObject(kind, object)
  } catch (error) {
    if (error instanceof ObjectError) return undefined
    throw error
  }
}

/** The controllers of Kubernetes write the object, so that its endpoints are as its pods are. */
function isOfController(subject: EndpointsObject, cluster: Pick<ClusterView, 'service'>): boolean {
  if (subject.kind === 'EndpointSlice') return isByController(subject.object as Parameters<typeof isByController>[0])
  const service = cluster.service(subject.object.metadata.namespace, serviceNameOf(subject)!)
  return service !== undefined && hasSelector(service)
}

function versionOf(pod: StoredPod | undefined): string {
  return (pod?.metadata as { resourceVersion?: string } | undefined)?.resourceVersion ?? ''
}

/** The oldest are forgotten first. */
function put<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > MOST_KNOWN) map.delete(map.keys().next().value!)
}
