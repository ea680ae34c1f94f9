import { isEnding, isMoved, isUsurped } from '../../../machines/pod-upgrade/facts.ts'
import type { Observation } from '../../../machines/pod-upgrade/context.ts'
import type {
  EffectInput,
  LedgerAnswer,
  PodPorts,
  PullsAnswer,
  ReadAnswer,
  RehearsalAnswer,
  StoreAnswer,
  StoreInput,
} from '../../../machines/pod-upgrade/ports.ts'
import {
  closePatch,
  drainIntentPatch,
  imagesPatch,
  isForCondition,
  restatePatch,
  restoreIntentPatch,
} from '../../journal/patches.ts'
import { formerPod } from '../../journal/former-pod.ts'
import type { LedgerEntry } from '../../journal/ledger.ts'
import type { KubeClient, PatchOperation } from '../../kube/client.ts'
import { isFailedPatchTest, isNotFound, isUnauthorized, KubeError } from '../../kube/errors.ts'
import { pause } from '../../kube/pause.ts'
import { asksFor, changesFor } from '../../pods/baseline.ts'
import type { ContainerImage, Journal, JournalTarget, PodView, Term } from '../../pods/glossary.ts'
import { beyondUndrained, needsDrain } from '../../pods/needs-drain.ts'
import { isSpecObserved } from '../../pods/observed-spec.ts'
import { imagePulls } from '../../pods/image-pulls.ts'
import { hasOtherContainers } from '../../pods/other-containers.ts'
import { podView } from '../../pods/view.ts'
import type { Clock } from '../../ports/clock.ts'
import { revisionLabelPatch } from '../../workloads/revision-label.ts'
import type { Reason } from '../../reasons/reason.ts'
import { reasonOf, RunError } from '../errors.ts'
import type { LedgerStore } from '../ledgers/ledger-store.ts'
import { inTheMiddle, isHadSince } from '../ledgers/open-entries.ts'
import type { PodStore } from '../../observation/pod-store.ts'
import { podsPath } from '../../observation/pod-store.ts'
import type { Traffic } from '../traffic/traffic.ts'
import type { World } from '../world.ts'
import type { Asking } from './asking.ts'
import type { Candidates } from './candidates.ts'

/** The deadline of one call to the API server. */
const API_DEADLINE_MS = 10_000
/**
 * The deadline of a call that is not necessary, while another step waits for it. The right to call a load balancer would run out during a
 * longer wait.
 */
const ASKED_WITHIN_MS = 1_000
const ASKED_AGAIN_AFTER_MS = 10_000

/** The wait after a 429 without a time. */
const THROTTLED_MS = 1_000

/** The deadline for the Events. Time proves the restart as well, so no step needs them. */
const EVENTS_WITHIN_MS = 2_000
const NO_EVENTS = { kind: 'unknown', reason: { code: 'events-forbidden' } } as const

/** The path of the Events of this pod that name the image of a container start. */
function eventsPath(namespace: string, uid: string): string {
  const selector = encodeURIComponent(`involvedObject.uid=${uid},reason=Pulled`)
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/events?fieldSelector=${selector}`
}

const NOT_HELD = { kind: 'unknown', reason: { code: 'lease-not-held' } } as const

export interface PodPortOptions {
  client: KubeClient
  clock: Clock
  namespace: string
  store: PodStore
  /** The pods among which the replacement of a gone pod is looked for. */
  candidates: Candidates
  asking: Asking
  traffic: Traffic
  /** The containers whose change alone needs no drain. */
  notFor?: readonly string[] | undefined
  ledger: LedgerStore
  /** The pod as its machine knows it, also after it is gone. */
  podOf(uid: string): PodView
  termOf(uid: string): Term | undefined
  boundOf: World['boundOf']
  /** The operations that the pod's workload adds to the patch of the images. */
  podOperations(pod: PodView): PatchOperation[]
  isOwned(uid: string): boolean
  /** Observes everything anew. */
  refresh(): Promise<void>
}

/** The ports of a run's machines, made of the API server, the load balancers and the ledger. */
export function createPodPorts(options: PodPortOptions): PodPorts {
  const { client, clock, namespace, store, candidates, asking, traffic, ledger, notFor = [] } = options

  /** The time of the last request for a pod before its restore that got no answer. */
  let unansweredAt = Number.NEGATIVE_INFINITY

  /** The intents that this process has recorded, by pod and effect. */
  const ownIntents = new Set<string>()
  const intentOf = (uid: string, effect: string): string => JSON.stringify([uid, effect])

  function takeIn(uid: string, askedAt: number, raw: unknown): Observation {
    asking.answered(uid, askedAt)
    return store.observe(raw)
  }

  async function write({ uid, pod, stored, record, wanted, restates }: StoreInput): Promise<StoreAnswer> {
    const entered = restates ? await enterDrained(uid, record) : undefined
    if (entered?.kind === 'unknown') return entered
    if (!options.isOwned(uid)) return NOT_HELD
    // Without this check the guard would be made from a later owner's journal, and pass.
    if (isUsurped({ stored, ...record })) return { kind: 'rejected', reason: { code: 'later-owner-wrote' } }
    const beyond = record.step === 'patched' && !restates ? beyondUndrained(record, { pod, wanted, notFor }) : []
    if (beyond.length > 0) return { kind: 'rejected', reason: { code: 'needs-drain', pod: pod.name, containers: beyond } }
    if (!restates) ownIntents.add(intentOf(uid, record.step))
    const askedAt = clock.now()
    try {
      const operations = restates ? restatePatch(pod, record) : patchFor(record, pod, wanted, () => labelOf(record, pod))
      const path = podsPath(namespace, pod.name) + (isForCondition(record) ? '/status' : '')
      const raw = await client.patch(path, operations, { deadlineMs: API_DEADLINE_MS, once: true })
      return { kind: 'stored', seen: takeIn(uid, askedAt, raw) }
    } catch (error) {
      // The write is not sent again here after a wait. A load balancer may have been reloaded meanwhile, so the machine looks again first.
      if (error instanceof KubeError && error.kind === 'throttled')
        await pause(clock, Math.min(error.retryAfterMs ?? THROTTLED_MS, API_DEADLINE_MS))
      return { kind: isRejection(error) ? 'rejected' : 'unknown', reason: reasonOf(error) }
    }
  }

  /** The label of the pod's revision. A pod that goes back gets the label that it had before. */
  function labelOf({ rollback }: Journal, pod: PodView): PatchOperation[] {
    if (rollback === undefined) return options.podOperations(pod)
    const former = ledger.ledger.entries.get(pod.uid)?.before?.revision
    return former === undefined ? [] : revisionLabelPatch(pod, former)
  }

  async function read(uid: string): Promise<ReadAnswer> {
    const askedAt = clock.now()
    try {
      const raw = await client.get(podsPath(namespace, options.podOf(uid).name), { deadlineMs: API_DEADLINE_MS })
      // Another pod may have the name now.
      if (podView(raw).uid !== uid) return { kind: 'gone' }
      return { kind: 'read', seen: takeIn(uid, askedAt, raw) }
    } catch (error) {
      if (isNotFound(error)) return { kind: 'gone' }
      if (error instanceof KubeError && error.status === 403) return { kind: 'refused', reason: reasonOf(error) }
      return { kind: 'unknown', reason: reasonOf(error) }
    }
  }

  /** Whether the Events may be listed. A run works without that right: the weaker proofs serve, and it is not asked for again. */
  let mayListEvents = true
  async function pulls(uid: string): Promise<PullsAnswer> {
    if (!mayListEvents) return NO_EVENTS
    try {
      const path = eventsPath(namespace, uid)
      return { kind: 'read', pulls: imagePulls(await client.get(path, { deadlineMs: EVENTS_WITHIN_MS, once: true }), uid) }
    } catch (error) {
      if (error instanceof KubeError && error.status === 403) mayListEvents = false
      return { kind: 'unknown', reason: reasonOf(error) }
    }
  }

  /**
   * Reports whether the pod exists, right before its restore. The answer to the intent may be older than an outage of the API server, in
   * which the pod crashed or lost its address. Without an answer, the restore goes on.
   */
  async function isThere(pod: PodView): Promise<boolean> {
    if (clock.now() - unansweredAt < ASKED_AGAIN_AFTER_MS) return true
    let answer = await asking.pod(pod, ASKED_WITHIN_MS)
    if (answer === 'putOff') {
      await pause(clock, ASKED_WITHIN_MS)
      answer = await asking.pod(pod, ASKED_WITHIN_MS)
    }
    if (answer === 'silent') unansweredAt = clock.now()
    // The decision follows from the observation alone, so the news is observed first.
    if (answer === 'news' || answer === 'gone') void options.refresh()
    return answer !== 'gone'
  }

  async function enter(
    uid: string,
    targets: JournalTarget[],
    known: Pick<LedgerEntry, 'state' | 'epoch' | 'voidBelow' | 'leftOut' | 'address' | 'before' | 'order'>,
  ): Promise<LedgerAnswer> {
    // A process that has lost the workload must not overwrite a later owner's entry.
    if (!options.isOwned(uid)) return NOT_HELD
    try {
      const recorded = ledger.ledger.entries.get(uid)
      const before = recorded?.before ?? known.before
      const order = recorded?.order === undefined ? {} : { order: recorded.order }
      const entry = { ...ledgerEntry(options.podOf(uid), targets), ...order, ...known, ...(before && { before }) }
      await ledger.put(entry, () => {
        if (!options.isOwned(uid)) throw new RunError('conflict', NOT_HELD.reason)
      })
      return { kind: 'stored' }
    } catch (error) {
      return { kind: 'unknown', reason: reasonOf(error) }
    }
  }

  /** The term below which intents are void, never above the epoch of the next intent: the count of the Lease can have been set back. */
  function boundOf(uid: string): Pick<LedgerEntry, 'voidBelow'> {
    const seen = options.boundOf(uid)
    const said = ledger.ledger.entries.get(uid)?.voidBelow
    const own = options.termOf(uid)
    const isAbove = said !== undefined && said.lease === own?.lease && said.epoch > own.epoch
    const voidBelow = seen ?? (isAbove ? own : undefined)
    return voidBelow ? { voidBelow } : {}
  }

  /**
   * Opens the entry of a pod that is drained, or may be from now on, where the entry says that nothing is drained (`idle`). A drain intent
   * of a killed process may arrive after that was written. Without this, no run would look after the targets once the pod is gone.
   */
  async function enterDrained(uid: string, { targets }: Journal): ReturnType<typeof enter> {
    const known = ledger.ledger.entries.get(uid)
    if (!known?.idle) return { kind: 'stored' }
    return enter(uid, targets, { state: 'open', ...(known.address === undefined ? {} : { address: known.address }) })
  }

  /**
   * The objection to a call that is about to leave, by the present observation. A call can wait long in its queue, so that the pod has
   * crashed, or the address is another pod's. The machine waits for the answer, and may not know.
   */
  function unfit({ uid, toServe, ...place }: EffectInput): Reason | undefined {
    const heir = toServe?.uid === uid ? undefined : toServe
    const pod = heir ? candidates.all().find((one) => one.pod.uid === heir.uid)?.pod : store.get(uid)?.pod
    if (pod === undefined) return { code: 'pod-gone' }
    if (isMoved({ ...place, gone: false, pod })) return { code: 'pod-moved', pod: pod.name }
    if (isEnding({ gone: false, pod })) return { code: 'pod-going', pod: pod.name }
    if (toServe === undefined) return undefined
    // The answer to the pod's own intent has told of its readiness. A replacement must be watched.
    if (heir && !candidates.isCurrent()) return { code: 'readiness-unknown', pod: pod.name }
    if (!pod.ready) return { code: 'pod-not-ready-any-more', pod: pod.name }
    const isStaying = isSpecObserved(pod) && !hasOtherContainers(toServe, pod)
    return isStaying ? undefined : { code: 'has-other-containers', pod: pod.name }
  }

  return {
    async snapshot({ pod, wanted }) {
      if (needsDrain(pod, wanted, notFor)) return traffic.snapshot(pod)
      const undrained = changesFor(pod, wanted).map(({ container }) => container)
      return { kind: 'taken', targets: [], undrained, address: pod.ip ?? '' }
    },
    async rehearse({ pod, wanted }) {
      return rehearse(client, namespace, pod, wanted, options.podOperations(pod))
    },
    enroll({ uid, pod, wanted, targets }) {
      const known = ledger.ledger.entries.get(uid)
      const midway = inTheMiddle(ledger.ledger)
      // A pod that was in the plan may get the targets of a pod that came later. It must count as the newest, so that its targets are
      // settled last.
      const isNewest = known === undefined || isHadSince({ ...known, targets }, midway)
      const order = isNewest ? { order: 1 + Math.max(0, ...midway.map((one) => one.order ?? 0)) } : {}
      return enter(uid, targets, { state: 'open', ...boundOf(uid), before: formerPod(pod, wanted), ...order })
    },
    store: write,
    read: ({ uid }) => read(uid),
    pulls: ({ uid }) => pulls(uid),
    async effect(input) {
      const { uid, effect, record, toServe } = input
      if (toServe && !(await isThere(toServe))) return { kind: 'retryable', reason: { code: 'pod-gone' } }
      const entered = effect === 'drain' ? await enterDrained(uid, record) : undefined
      if (entered?.kind === 'unknown') return { kind: 'retryable', reason: entered.reason }
      const isInherited = !ownIntents.has(intentOf(uid, effect))
      return traffic.effect({ uid, pod: options.podOf(uid).name, effect, record, isInherited, objection: () => unfit(input) })
    },
    inspect: ({ uid, targets, ...known }) => traffic.inspect(uid, targets, known),
    compare: ({ targets }) => traffic.compare(targets),
    relocate: ({ uid, pod, targets }) => traffic.relocate(pod, targets, pod.uid === uid),
    settle({ uid, targets, settlement, epoch, address }) {
      if (settlement === 'restore') ownIntents.add(intentOf(uid, settlement))
      return enter(uid, targets, {
        ...(settlement === 'left' ? { state: 'closed', leftOut: true } : { state: settlement }),
        ...(settlement === 'restore' ? { epoch } : {}),
        ...(address === undefined ? {} : { address }),
      })
    },
  }
}

/** Reports whether the API server refused the write. A write that did not arrive, or was put off, says nothing of the guards. */
function isRejection(error: unknown): boolean {
  if (!(error instanceof KubeError)) return true
  return error.status !== undefined && error.kind !== 'ambiguous' && error.kind !== 'throttled'
}

export function ledgerEntry(pod: PodView, targets: JournalTarget[]): LedgerEntry {
  const { uid, name, ip, node, owner } = pod
  return {
    uid,
    pod: name,
    ...(ip === undefined ? {} : { address: ip }),
    ...(node === undefined ? {} : { node }),
    ...(owner === undefined ? {} : { owner }),
    targets,
    state: 'open',
  }
}

function patchFor(
  record: Journal,
  pod: PodView,
  wanted: readonly ContainerImage[],
  extra: () => PatchOperation[],
): PatchOperation[] {
  switch (record.step) {
    case 'drain':
      return drainIntentPatch(pod, record, wanted)
    case 'patched':
      return imagesPatch(pod, record, wanted, extra())
    case 'restore':
      return restoreIntentPatch(pod, record)
    case 'closed':
      return closePatch(pod, record)
  }
}

/**
 * Reports whether the error says nothing of the images: the request did not arrive, its user was not known, the pod is gone, its name is
 * another pod's, or the pod was written at the same time. The watch tells then.
 */
function saysNothingOfImages(error: KubeError): boolean {
  const { status } = error
  return status === undefined || isUnauthorized(error) || [404, 409].includes(status) || isFailedPatchTest(error)
}

/**
 * Sends the patch of the images as a dry run. Admission, such as an image policy or a quota, refuses or rewrites the images before any
 * drain.
 */
export async function rehearse(
  client: KubeClient,
  namespace: string,
  pod: PodView,
  wanted: readonly ContainerImage[],
  extra: readonly PatchOperation[],
): Promise<RehearsalAnswer> {
  const images = pod.containers.flatMap(({ name, image }, index): PatchOperation[] => {
    const want = wanted.find(({ container }) => container === name)
    if (!want || want.image === image) return []
    return [
      { op: 'test', path: `/spec/containers/${index}/name`, value: name },
      { op: 'replace', path: `/spec/containers/${index}/image`, value: want.image },
    ]
  })
  const operations: PatchOperation[] = [{ op: 'test', path: '/metadata/uid', value: pod.uid }, ...extra, ...images]
  try {
    const answer = podView(
      await client.patch(podsPath(namespace, pod.name), operations, { dryRun: true, deadlineMs: API_DEADLINE_MS }),
    )
    if (asksFor(answer, wanted)) return { kind: 'accepted' }
    const made = answer.containers.map(({ name, image }) => ({ container: name, image }))
    return { kind: 'refused', reason: { code: 'dry-run-differs', images: made } }
  } catch (error) {
    if (error instanceof KubeError && (error.kind === 'ambiguous' || error.kind === 'throttled' || saysNothingOfImages(error))) {
      return { kind: 'unknown', reason: reasonOf(error) }
    }
    return { kind: 'refused', reason: reasonOf(error) }
  }
}
