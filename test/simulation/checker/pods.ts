import type { Happening } from './history.ts'
import type { JournalText } from './journal.ts'
import { journalWrite } from './journal.ts'
import type { Replicas } from './replicas.ts'
import { createReplicas } from './replicas.ts'

/** One container of a pod, as the node has it. */
export interface Container {
  id: string
  image: string
  /** Where in the history it was started. */
  startedAt: number
  address: string
  /** It does not answer, and why: sluice, or somebody else, has given the pod another image, or it ended by itself. */
  down: 'sluice' | 'person' | 'itself' | undefined
}

export interface StoredJournal extends JournalText {
  entry: number
  by: string
  leftAt: number
  at: number
  /** A drain intent whose sender could act on it no more when it was stored. */
  isLate: boolean
}

export interface Pod {
  uid: string
  name: string
  namespace: string
  address: string | undefined
  /** When it came to this address, and where in the history that is. */
  arrived: { at: number; entry: number }
  /** Addresses at which it was before, and until when. */
  left: Map<string, number>
  owner: string | undefined
  createdAt: number
  isDeleting: boolean
  /** It has ended for good, and is started no more. */
  isFinished: boolean
  isGone: boolean
  goneAt: number | undefined
  /** Since when nothing in its place has taken requests: it is not ready, or going, or those that it has come for were. */
  awaySince: number | undefined
  /** When its controller, which had no use for it any more, was told to keep more. */
  missedAgainAt: number
  /** Another of its controller has come in its place, or none was to. */
  isReplaced: boolean
  ready: boolean
  /** Since when it is as `ready` says. */
  readySince: number
  /** Container name → image, as asked for. */
  images: Record<string, string>
  /** The same, when it was home last: one after another, where somebody has patched it there. */
  homeImages: Record<string, string>[]
  /**
   * By each run that has given it images: those that it had when it was home last before that. Where the run has found it half
   * done and brought it home in passing, also those before it (seed 10514529).
   */
  formerImages: Map<string, { images: Record<string, string>[]; isOver: boolean }>
  /** Containers whose Ready says that they answer. */
  probed: ReadonlySet<string>
  journal: StoredJournal | undefined
  /** Attempts that were begun, and by whom. */
  attempts: Map<number, string>
  /** Who has put it back last with nothing patched. */
  readmittedBy: string | undefined
  /** Somebody else has changed the journal: what it says is not sluice's word any more. */
  tampered: number
  /** The last write of images by sluice since the journal was closed. */
  patch: { entry: number; containers: string[]; by: string } | undefined
  /** When somebody else has given it other images last. */
  meddled: { at: number; entry: number } | undefined
  /** When the write left that closed its journal last. */
  closedAt: number | undefined
  generation: number
  /** What the kubelet says that it has seen. */
  observedGeneration: number
  /** Who has given it other images last. */
  patchedBy: string | undefined
  containers: Map<string, Container>
  /** Containers that the API has said to be ready, by their ids. */
  saidReady: Set<string>
  /** Where in the history each container was started, by its id. */
  starts: Map<string, number>
  /** … and of which image. */
  imagesOf: Map<string, string>
  /** Container name → id, as the API says. */
  shown: Map<string, string>
}

/** The Lease of its workload; of a pod that is gone any one will do: what it leaves behind goes to whoever finds it. */
export function leaseOf({ isGone, name, namespace, owner }: Pod): string | undefined {
  if (isGone) return undefined
  const [kind, of] = owner === undefined ? ['pod', name] : owner.split('/')
  // The ReplicaSets of a Deployment are named after it.
  return `${namespace}/sluice-${kind === 'ReplicaSet' ? `deployment-${of!.replace(/-[^-]*$/, '')}` : `${kind!.toLowerCase()}-${of}`}`
}

interface RawPod {
  metadata: {
    uid: string
    name: string
    namespace?: string
    deletionTimestamp?: string
    generation?: number
    ownerReferences?: { kind: string; name: string; controller?: boolean }[]
  }
  spec: { containers: { name: string; image: string; readinessProbe?: unknown }[] }
  status?: {
    phase?: string
    podIP?: string
    observedGeneration?: number
    conditions?: { type: string; status: string }[]
    containerStatuses?: { name: string; containerID?: string; ready?: boolean }[]
  }
}

export interface Pods extends Pick<Replicas, 'scale' | 'scaledAt' | 'isSurplus'> {
  byUid: Map<string, Pod>
  alive(): Pod[]
  /** Those that are gone, and in whose place their controller is still to make another. */
  missing(): Pod[]
  /** All that are at the address, and those that were until then or later. */
  lately(address: string, since: number): Pod[]
  /** The pod that has this address, and is still there. */
  at(address: string): Pod | undefined
  /** Takes a write of a pod; answers what it did to its journal. */
  store(entry: Extract<Happening, { type: 'stored' }>, at: number, index: number, isSluice: boolean): PodWrite | undefined
  node(entry: Extract<Happening, { type: 'container' }>, index: number): void
}

export interface PodWrite {
  pod: Pod
  /** Containers that got another image. */
  patched: string[]
  /** Over what somebody has patched in since the same process had patched it. */
  isOverHis: boolean
  journal: ReturnType<typeof journalWrite>
}

/** Its images are what somebody else has patched in last. */
function isHis({ meddled, patch }: Pod): boolean {
  return meddled !== undefined && meddled.entry > (patch?.entry ?? -1)
}

function noteFormer({ formerImages, homeImages, journal }: Pod, { run }: JournalText, isPatched: boolean): void {
  const { images, isOver } = formerImages.get(run) ?? { images: [], isOver: false }
  const isFound = journal !== undefined && journal.step !== 'closed' && journal.run !== run
  // What it is at home on after that is the run's own doing.
  // Nor is what it has come home on in the middle of the one that it was found half done by (seed 44927001).
  const earlier = isFound ? (formerImages.get(journal.run)?.images ?? []) : []
  const all = [...images, ...earlier, ...homeImages]
  if ((isFound || isPatched) && !isOver) formerImages.set(run, { images: all, isOver: isPatched })
}

export function createPods(): Pods {
  const byUid = new Map<string, Pod>()
  const replicas = createReplicas(byUid)

  function podOf(uid: string, at: number): Pod {
    let pod = byUid.get(uid)
    if (pod === undefined) {
      pod = {
        uid,
        name: uid,
        namespace: '',
        address: undefined,
        arrived: { at, entry: 0 },
        left: new Map(),
        owner: undefined,
        createdAt: at,
        isDeleting: false,
        isFinished: false,
        isGone: false,
        goneAt: undefined,
        awaySince: at,
        missedAgainAt: -Infinity,
        isReplaced: false,
        ready: false,
        readySince: at,
        images: {},
        homeImages: [],
        formerImages: new Map(),
        probed: new Set(),
        journal: undefined,
        attempts: new Map(),
        readmittedBy: undefined,
        tampered: 0,
        patch: undefined,
        meddled: undefined,
        closedAt: undefined,
        generation: 0,
        observedGeneration: 0,
        patchedBy: undefined,
        containers: new Map(),
        saidReady: new Set(),
        starts: new Map(),
        imagesOf: new Map(),
        shown: new Map(),
      }
      byUid.set(uid, pod)
    }
    return pod
  }

  /** What a controller makes takes the place of the one that it has missed the longest, from then on. */
  function replace(pod: Pod): void {
    const lost = [...byUid.values()].find(
      (one) => one !== pod && one.owner === pod.owner && !one.isReplaced && (one.isGone || one.isDeleting),
    )
    if (lost === undefined || pod.owner === undefined) return
    lost.isReplaced = true
    pod.awaySince = lost.awaySince
  }

  return {
    byUid,
    alive: () => [...byUid.values()].filter(({ isGone }) => !isGone),
    missing: () =>
      [...byUid.values()].filter(
        ({ isGone, isReplaced, owner }) => isGone && !isReplaced && owner !== undefined && replicas.hasTooFew(owner, () => true),
      ),
    isSurplus: replicas.isSurplus,
    at(address) {
      const there = [...byUid.values()].filter((pod) => !pod.isGone && pod.address === address)
      // One that is going still shows the address that another has by now.
      return there.find(({ isDeleting }) => !isDeleting) ?? there[0]
    },
    lately: (address, since) =>
      [...byUid.values()].filter(
        (pod) => (pod.address === address ? (pod.goneAt ?? Infinity) : (pod.left.get(address) ?? 0)) >= since,
      ),
    store({ by, verb, before, after }, at, index, isSluice) {
      const raw = (after ?? before) as RawPod | undefined
      if (raw === undefined) return undefined
      const pod = podOf(raw.metadata.uid, at)
      if (verb === 'delete') {
        pod.isGone = true
        // Its controller may be told to keep more again (seed 44310413).
        if (!replicas.hasTooFew(pod.owner, (one) => !one.isDeleting)) pod.isReplaced = true
        pod.goneAt = at
        pod.awaySince ??= at
        return { pod, patched: [], isOverHis: false, journal: undefined }
      }
      const { metadata, spec, status } = raw
      pod.name = metadata.name
      pod.namespace = metadata.namespace ?? ''
      pod.isDeleting = metadata.deletionTimestamp !== undefined
      pod.isFinished = status?.phase === 'Failed' || status?.phase === 'Succeeded'
      if (pod.address !== status?.podIP) {
        if (pod.address !== undefined) pod.left.set(pod.address, at)
        pod.arrived = { at, entry: index }
      }
      pod.address = status?.podIP
      const controller = metadata.ownerReferences?.find((owner) => owner.controller)
      pod.owner = controller && `${controller.kind}/${controller.name}`
      const ready = status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') ?? false
      if (ready !== pod.ready) pod.readySince = at
      pod.ready = ready
      if (verb === 'create') replace(pod)
      pod.awaySince = ready && !pod.isDeleting ? undefined : (pod.awaySince ?? at)
      for (const { name, containerID: id, ready: isReady } of status?.containerStatuses ?? []) {
        if (id) pod.shown.set(name, id)
        if (isReady && id) pod.saidReady.add(id)
      }
      pod.generation = metadata.generation ?? 0
      pod.observedGeneration = status?.observedGeneration ?? 0
      const journal = verb === 'create' ? undefined : journalWrite(before, after)
      const patched = spec.containers
        .filter(({ name, image }) => pod.images[name] !== undefined && pod.images[name] !== image)
        .map(({ name }) => name)
      if (patched.length > 0 || verb === 'create' || pod.probed.size === 0) {
        pod.images = Object.fromEntries(spec.containers.map(({ name, image }) => [name, image]))
        pod.probed = new Set(spec.containers.flatMap(({ name, readinessProbe }) => (readinessProbe === undefined ? [] : [name])))
      }
      const isOverHis = isSluice && patched.length > 0 && pod.journal?.step === 'patched' && pod.patch?.by === by && isHis(pod)
      if (patched.length > 0) {
        if (isSluice) pod.patch = { entry: index, containers: patched, by }
        else pod.meddled = { at, entry: index }
        pod.patchedBy = by
        const isHome = pod.journal === undefined || pod.journal.step === 'closed'
        if (!isSluice && isHome) pod.homeImages = [...pod.homeImages, pod.images]
      }
      const record = typeof journal === 'object' ? journal : undefined
      if (isSluice && record) noteFormer(pod, record, patched.length > 0)
      // Put back with nothing patched, it is home on what it was on: also before somebody had patched it (seed 6313).
      const isLeft = record?.step === 'closed' && pod.patch === undefined
      if (isLeft) pod.homeImages = [...pod.homeImages, pod.images]
      else if (verb === 'create' || record?.step === 'closed') pod.homeImages = [pod.images]
      return { pod, patched, isOverHis, journal }
    },
    node({ what, uid, container, id, image, address }, index) {
      const pod = podOf(uid, 0)
      const now = pod.containers.get(container)
      if (what === 'started') {
        pod.starts.set(id, index)
        pod.imagesOf.set(id, image)
        // It answers when `serving` says so; until then it is down for the same reason as the one before.
        pod.containers.set(container, { id, image, startedAt: index, address, down: now?.down ?? 'itself' })
        return
      }
      if (now === undefined || now.id !== id) return
      if (what === 'serving') now.down = undefined
      else if (pod.images[container] !== image) now.down ??= isHis(pod) ? 'person' : 'sluice'
      // Said to be ready before it answered, it had come back as far as anybody can know.
      else if (now.down === undefined || pod.saidReady.has(id)) now.down = 'itself'
    },
    scale(owner, count, at) {
      const surplus = [...byUid.values()].filter((pod) => pod.owner === owner && replicas.isSurplus(pod))
      replicas.scale(owner, count, at)
      for (const pod of surplus) if (!replicas.isSurplus(pod)) pod.awaySince = pod.missedAgainAt = at
    },
    scaledAt: replicas.scaledAt,
  }
}
