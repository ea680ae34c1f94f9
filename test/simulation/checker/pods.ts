import type { Happening } from './history.ts'
import type { JournalText } from './journal.ts'
import { journalWrite } from './journal.ts'
import type { Replicas } from './replicas.ts'
import { createReplicas } from './replicas.ts'

/** One container of a pod, as the node has it. */
export interface Container {
  id: string
  image: string
  /** The place in the history at which the container was started. */
  startedAt: number
  address: string
  /**
   * The reason why the container does not answer: sluice or another writer changed the image of the pod, or the container ended by itself.
   */
  down: 'sluice' | 'person' | 'itself' | undefined
}

export interface StoredJournal extends JournalText {
  entry: number
  by: string
  leftAt: number
  at: number
  /** True for a drain intent whose sender could no longer act on it when it was stored. */
  isLate: boolean
}

export interface Pod {
  uid: string
  name: string
  namespace: string
  address: string | undefined
  /** The time when the pod came to this address, and the place in the history. */
  arrived: { at: number; entry: number }
  /** The former addresses of the pod, and the time when it left each. */
  left: Map<string, number>
  owner: string | undefined
  createdAt: number
  isDeleting: boolean
  /** True where the pod has ended for good, and is not started again. */
  isFinished: boolean
  isGone: boolean
  goneAt: number | undefined
  /** The time since which no pod in this place has taken requests: the pod is not ready or going, or its predecessor was. */
  awaySince: number | undefined
  /** The time when its controller, which no longer needed the pod, was told to keep more pods. */
  missedAgainAt: number
  /** True where another pod of its controller has taken its place, or none was to. */
  isReplaced: boolean
  ready: boolean
  /** The time of the last change of `ready`. */
  readySince: number
  /** Container name → image in the spec. */
  images: Record<string, string>
  /** The images when the pod was last home. There are several where the pod was patched by hand while it was home. */
  homeImages: Record<string, string>[]
  /**
   * By each run that has changed its images: the images when the pod was last home before. Where the run has found the pod half done and
   * has brought it home first, also the images before the earlier run.
   */
  formerImages: Map<string, { images: Record<string, string>[]; isOver: boolean }>
  /** Containers with a readiness probe: their Ready says that they answer. */
  probed: ReadonlySet<string>
  journal: StoredJournal | undefined
  /** The attempts, and the process that began each. */
  attempts: Map<number, string>
  /** The process that last put the pod back unpatched. */
  readmittedBy: string | undefined
  /** The place of the last foreign change of the journal, or 0. The journal is then no longer a statement of sluice. */
  tampered: number
  /** The last write of images by sluice since the journal was closed. */
  patch: { entry: number; containers: string[]; by: string } | undefined
  /** The last change of its images by another writer. */
  meddled: { at: number; entry: number } | undefined
  /** The time when the write left that last closed its journal. */
  closedAt: number | undefined
  generation: number
  /** The generation that the kubelet has reported. */
  observedGeneration: number
  /** The last writer of its images. */
  patchedBy: string | undefined
  containers: Map<string, Container>
  /** The IDs of containers that the API has reported as ready. */
  saidReady: Set<string>
  /** Container ID → place in the history at which it was started. */
  starts: Map<string, number>
  /** Container ID → image. */
  imagesOf: Map<string, string>
  /** Container name → ID, as the API shows it. */
  shown: Map<string, string>
}

/** Returns the Lease of the pod's workload. Undefined for a pod that is gone: its targets may be handled under any Lease. */
export function leaseOf({ isGone, name, namespace, owner }: Pod): string | undefined {
  if (isGone) return undefined
  const [kind, of] = owner === undefined ? ['pod', name] : owner.split('/')
  // The name of a ReplicaSet begins with the name of its Deployment.
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
  /** Returns the pods that are gone, and whose controller has still to make a replacement. */
  missing(): Pod[]
  /** Returns all pods at the address, and the pods that were there at `since` or later. */
  lately(address: string, since: number): Pod[]
  /** Returns the present pod at this address. */
  at(address: string): Pod | undefined
  /** Takes a write of a pod, and returns its effect on the pod and the journal. */
  store(entry: Extract<Happening, { type: 'stored' }>, at: number, index: number, isSluice: boolean): PodWrite | undefined
  node(entry: Extract<Happening, { type: 'container' }>, index: number): void
}

export interface PodWrite {
  pod: Pod
  /** Containers that got another image. */
  patched: string[]
  /** True where the write replaces images that were patched in by hand after the same process had patched the pod. */
  isOverHis: boolean
  journal: ReturnType<typeof journalWrite>
}

/** Reports whether the last change of the pod's images was made by another writer. */
function isHis({ meddled, patch }: Pod): boolean {
  return meddled !== undefined && meddled.entry > (patch?.entry ?? -1)
}

function noteFormer({ formerImages, homeImages, journal }: Pod, { run }: JournalText, isPatched: boolean): void {
  const { images, isOver } = formerImages.get(run) ?? { images: [], isOver: false }
  const isFound = journal !== undefined && journal.step !== 'closed' && journal.run !== run
  // Images at home after that, also after an earlier half-done run came home in the middle, are the doing of the run itself.
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

  /** A new pod of a controller takes the place of the pod that has been missing longest, and its time of absence. */
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
      // A pod that is going still shows its address, which another pod may have by now.
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
        // The controller may be told later to keep more pods again.
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
      // A pod that was put back unpatched is home on its present images, and also on the images before a patch by hand.
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
        // A container answers from `serving` on. Until then it is down for the reason of the container before.
        pod.containers.set(container, { id, image, startedAt: index, address, down: now?.down ?? 'itself' })
        return
      }
      if (now === undefined || now.id !== id) return
      if (what === 'serving') now.down = undefined
      else if (pod.images[container] !== image) now.down ??= isHis(pod) ? 'person' : 'sluice'
      // A container that was reported as ready before it answered counts as back.
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
