import type { Observation, PodUpgradeInput } from '../../machines/pod-upgrade/context.ts'
import { formerPod } from '../journal/former-pod.ts'
import { journalOf } from '../journal/journal.ts'
import type { LedgerEntry, LedgerHeader, LedgerWorkload } from '../journal/ledger.ts'
import type { KubeClient } from '../kube/client.ts'
import { KubeError } from '../kube/errors.ts'
import type { ContainerImage, PodView } from '../pods/glossary.ts'
import { podView } from '../pods/view.ts'
import type { Clock } from '../ports/clock.ts'
import { RunError } from './errors.ts'
import type { PodResult, RunEventBody } from './events.ts'
import type { LedgerStore, Told } from './ledger-store.ts'
import { createLedger, deleteLedger, listLedgers, resumeLedger } from './ledger-store.ts'
import { ledgerEntry } from './pod-ports.ts'
import { podsPath } from './pod-store.ts'
import type { RunPorts, RunRequest } from './request.ts'
import type { World } from './world.ts'
import { isOpen, openJournal } from '../pods/open-journal.ts'
import type { AssessedWorkload } from './planning.ts'

/** Finished ledgers of a workload that are kept. */
const KEPT = 10

/** The ledger that this run writes, and those of earlier runs on the same workloads. */
export interface RunLedgers {
  current: LedgerStore
  /** The same request was begun before, and is gone on with under its run id. */
  resumed: boolean
  /** Not finished: what they left open is this run's to settle. */
  superseded: LedgerStore[]
  finished: LedgerStore[]
  /** Where a pod was when its targets were recorded. */
  addressOf(uid: string): string | undefined
}

interface OpenOptions {
  request: RunRequest
  ports: RunPorts
  world: World
  /** For the run id, where a new one is begun. */
  token: string
  tell(event: RunEventBody): void
}

/** Goes on with the ledger of the same request, or writes a new one: before the first drain, with every pod in it. */
export async function openRunLedger({ request, ports, world, token, tell }: OpenOptions): Promise<RunLedgers> {
  const options = { client: ports.client, namespace: request.namespace }
  const stores: LedgerStore[] = []
  for (const found of await listLedgers(ports.client, request.namespace)) {
    if (found.kind === 'read') stores.push(resumeLedger(found, options))
    else tell({ type: 'warning', message: `the ledger of run ${found.run} cannot be read, and is left alone: ${found.reason}` })
  }
  const uids = new Set(world.workloads.map(({ workload }) => workload.uid))
  // By name too: a workload that was deleted and made again has another uid, and the same Lease and targets.
  const isOurs = ({ kind, name, uid }: LedgerHeader['workloads'][number]): boolean =>
    uids.has(uid) || world.workloads.some(({ workload: { ref } }) => ref.kind === kind && ref.name === name)
  const ours = stores.filter(({ ledger }) => ledger.header.workloads.some(isOurs))
  const newestFirst = ours.toSorted((a, b) => (a.ledger.header.startedAt < b.ledger.header.startedAt ? 1 : -1))
  const open = newestFirst.filter(({ ledger }) => ledger.header.finishedAt === undefined)
  const finished = newestFirst.filter(({ ledger }) => ledger.header.finishedAt !== undefined)
  const same = request.abort
    ? open[0]
    : open.find(
        ({ ledger: { header } }) =>
          isSameRequest(header, world) &&
          header.workloads.length === uids.size &&
          header.workloads.every(({ uid }) => uids.has(uid)),
      )
  if (request.abort && !same) throw new RunError('conflict', 'the run has come to its end meanwhile')
  const superseded = open.filter((one) => one !== same)

  const addressOf = (uid: string): string | undefined =>
    open.map(({ ledger }) => ledger.entries.get(uid)?.address).find((address) => address !== undefined)
  const planned = plannedPods(world).map(({ pod, stored, targets, adopted }): LedgerEntry => {
    const recorded = open.find(({ ledger }) => ledger.entries.get(pod.uid)?.before)?.ledger.entries.get(pod.uid)?.before
    const wanted = world.imagesFor(pod)
    const entry = { ...ledgerEntry(pod, targets), before: formerPod(pod, wanted, openJournal(stored), recorded) }
    // Where the targets of a drained pod were found, which may not be where it is now.
    const address = adopted ? addressOf(pod.uid) : undefined
    return address === undefined ? entry : { ...entry, address }
  })
  if (same) {
    for (const entry of planned) {
      // The prior state of a pod that is open already is the one that was recorded then.
      if (!same.ledger.entries.has(entry.uid)) await same.put(entry)
    }
    return { current: same, resumed: true, superseded, finished, addressOf }
  }
  const undoes = world.undoing()?.run
  const current = await createLedger(
    {
      header: {
        run: token,
        workloads: world.workloads.map(ledgerWorkload),
        images: world.plan().images,
        ...(undoes === undefined ? {} : { undoes }),
        startedAt: new Date(ports.clock.wallNow()).toISOString(),
        chunks: 1,
      },
      entries: new Map(planned.map((entry) => [entry.uid, entry])),
    },
    options,
  )
  return { current, resumed: false, superseded, finished, addressOf }
}

function ledgerWorkload({ workload: { ref, uid }, assessment: { template } }: AssessedWorkload): LedgerWorkload {
  const before = template?.change.map(({ container, from }) => ({ container, image: from }))
  return { kind: ref.kind, name: ref.name, uid, ...(before ? { before } : {}) }
}

/** What is to be undone says more than the images that are still to be put back. */
function isSameRequest({ images, undoes }: LedgerHeader, { plan, undoing }: World): boolean {
  if (undoes !== undefined || undoing() !== undefined) return undoes === undoing()?.run
  const text = (list: readonly ContainerImage[]): string =>
    JSON.stringify(list.map(({ container, image }) => [container, image]).toSorted())
  return text(images) === text(plan().images)
}

interface PlannedPod extends Observation {
  targets: LedgerEntry['targets']
  /** An earlier run has left it half done. */
  adopted: boolean
}

/** The pods that may be drained, with what is known of their targets: the snapshot right before the drain completes it. */
function plannedPods({ plan, store, targetsOf }: World): PlannedPod[] {
  return plan()
    .pods.filter(({ action }) => action === 'upgrade' || action === 'adopt')
    .flatMap(({ uid, action }) => {
      const observation = store.get(uid)
      if (!observation) return []
      const { pod, stored } = observation
      const targets = targetsOf(uid) ?? (stored.kind === 'read' ? stored.journal.targets : [])
      return [{ pod, stored, targets, adopted: action === 'adopt' }]
    })
}

interface GhostOptions {
  ledgers: RunLedgers
  world: World
  client: KubeClient
  namespace: string
  epochOf(pod: PodView): number
}

/**
 * Pods that are gone while their targets may still be drained for them: in an open ledger, not closed there. It says what
 * is so at the moment that it resolves: one that goes while others are asked for is among them.
 */
export async function ghostsOf({ ledgers, world, client, namespace, epochOf }: GhostOptions): Promise<PodUpgradeInput[]> {
  const ghosts = new Map<string, PodUpgradeInput>()
  /** The selector may have lost it while it lives on: then it is another request's business. */
  const elsewhere = new Set<string>()
  const missing = (): LedgerEntry | undefined =>
    [ledgers.current, ...ledgers.superseded]
      .flatMap((one) => [...one.ledger.entries.values()].filter((entry) => !isSettledSince(entry, one, ledgers)))
      .filter(({ state, targets }) => state !== 'closed' && targets.length > 0)
      .find(({ uid }) => !world.store.get(uid) && !ghosts.has(uid) && !elsewhere.has(uid))

  for (let entry = missing(); entry !== undefined; entry = missing()) {
    if (await findAlive(client, namespace, entry)) elsewhere.add(entry.uid)
    else ghosts.set(entry.uid, ghostInput(entry))
  }
  return [...ghosts.values()]

  function ghostInput(entry: LedgerEntry): PodUpgradeInput {
    const pod = ghost({ ...entry, ...presentOwner(entry, world) }, namespace)
    return {
      pod,
      stored: { kind: 'none' },
      run: ledgers.current.ledger.header.run,
      epoch: epochOf(pod),
      wanted: [],
      rehearsed: false,
      ...(entry.address === undefined ? {} : { address: entry.address }),
      targets: entry.targets,
      gone: true,
    }
  }
}

/**
 * Tells of pods that an earlier run may have left drained, and whose journal somebody has removed since. Nothing says
 * whether that run or an operator has them out, so that they are left out, as what an operator has out is.
 */
export async function warnOfLostJournals({
  ledgers,
  world,
  tell,
}: Pick<GhostOptions, 'ledgers' | 'world'> & Pick<OpenOptions, 'tell'>): Promise<void> {
  const earlier = [...(ledgers.resumed ? [ledgers.current] : []), ...ledgers.superseded]
  const suspects = new Map<string, { entry: LedgerEntry; run: string }>()
  for (const { ledger } of earlier) {
    for (const entry of ledger.entries.values()) {
      if (entry.state !== 'open' || world.store.get(entry.uid)?.stored.kind !== 'none') continue
      if (entry.targets.some(({ untouched }) => !untouched)) suspects.set(entry.uid, { entry, run: ledger.header.run })
    }
  }
  await Promise.all(
    Array.from(suspects.values(), async ({ entry: { uid, pod, targets }, run }) => {
      const { state, removed, detail } = await world.traffic.inspect(uid, targets)
      if (removed || (state !== 'out' && state !== 'mixed')) return
      const message =
        `it has no journal, was in rotation when run ${run} began, and is not now (${detail}): an operator has it out, or its ` +
        `journal was removed after the drain. It is left so; put it back by hand if nobody wants it out`
      tell({ type: 'warning', pod, message })
    }),
  )
}

/** A run that came after it has settled the pod: what an operator has done to its entry since is his. */
function isSettledSince({ uid }: LedgerEntry, { ledger }: LedgerStore, { current, superseded, finished }: RunLedgers): boolean {
  return [current, ...superseded, ...finished].some(
    (other) =>
      (other === current || other.ledger.header.startedAt > ledger.header.startedAt) &&
      other.ledger.entries.get(uid)?.state === 'closed',
  )
}

async function findAlive(client: KubeClient, namespace: string, { uid, pod }: LedgerEntry): Promise<PodView | undefined> {
  try {
    const found = podView(await client.get(podsPath(namespace, pod)))
    return found.uid === uid ? found : undefined
  } catch (error) {
    if (error instanceof KubeError && error.status === 404) return undefined
    throw error
  }
}

/** The controller of that name now: it may have been deleted and made again since, and its pods are the heirs. */
function presentOwner({ owner }: LedgerEntry, world: World): Pick<LedgerEntry, 'owner'> {
  if (owner === undefined) return {}
  const now = world.workloads.find(({ workload: { ref } }) => ref.kind === owner.kind && ref.name === owner.name)
  return { owner: { ...owner, uid: now?.workload.uid ?? owner.uid } }
}

/** What the ledger knows of a pod that is gone. */
function ghost({ uid, pod, address, node, owner }: LedgerEntry, namespace: string): PodView {
  return {
    uid,
    name: pod,
    namespace,
    resourceVersion: '0',
    generation: 0,
    observedGeneration: 0,
    deleting: false,
    finished: false,
    ...(address === undefined ? {} : { ip: address }),
    ...(node === undefined ? {} : { node }),
    ...(owner === undefined ? {} : { owner }),
    hostNetwork: false,
    ready: false,
    containersReady: false,
    containers: [],
    initContainers: [],
    gracePeriodSeconds: 0,
    hasLabels: false,
    hasAnnotations: false,
    journal: {},
  }
}

interface CloseOptions {
  ledgers: RunLedgers
  pods: readonly PodResult[]
  /** Pods were not brought to their images. */
  isIncomplete: boolean
  world: World
  client: KubeClient
  namespace: string
  clock: Clock
  /** An order has ended the run, and those before it. */
  aborted?: LedgerHeader['aborted']
  /** This process's part, for the report. */
  told: Told
}

/**
 * Marks as finished what has nothing open any more, and removes the oldest of what is finished. Gives the names of pods that
 * may be left drained and that no machine has looked after: they went while they waited for their turn, or are another
 * request's business.
 */
export async function closeLedgers(options: CloseOptions): Promise<string[]> {
  const { ledgers, pods, isIncomplete, world, client, namespace, clock, aborted, told } = options
  const results = new Map(pods.map((result) => [result.uid, result]))
  const isUnsettled = async (entry: LedgerEntry, store: LedgerStore): Promise<boolean> => {
    const { uid, state, targets } = entry
    if (state === 'closed' || isSettledSince(entry, store, ledgers)) return false
    const result = results.get(uid)
    if (result)
      return result.out || result.outcome === 'needsOperator' || result.outcome === 'interrupted' || result.outcome === 'conflict'
    const observed = world.store.get(uid)
    if (observed) return isOpen(observed.stored)
    // Nobody has looked after it: it went while it waited for its turn, or is another request's business.
    if (targets.every(({ untouched }) => untouched)) return false
    const alive = await findAlive(client, namespace, entry)
    if (alive) return isOpen(journalOf(alive))
    const { state: traffic, removed } = await world.traffic.inspect(uid, targets)
    return traffic !== 'in' && removed !== true
  }
  const overlooked = new Set<string>()
  // Of a run that nobody has ended: it is there to be gone on with, or aborted.
  const goesOn = !aborted && isIncomplete
  for (const store of [ledgers.current, ...ledgers.superseded]) {
    const isCurrent = store === ledgers.current
    const entries = [...store.ledger.entries.values()]
    const isOpenStill = await Promise.all(entries.map((entry) => isUnsettled(entry, store)))
    const left = entries.filter((_, place) => isOpenStill[place])
    for (const { uid, pod } of left) if (!results.has(uid) && !world.store.get(uid)) overlooked.add(pod)
    const isOver = !(isCurrent && goesOn) && left.length === 0
    const finished = isOver ? { at: new Date(clock.wallNow()).toISOString(), ...(aborted ? { aborted } : {}) } : undefined
    if (isCurrent || finished) await store.conclude({ ...(finished ? { finished } : {}), ...(isCurrent ? { told } : {}) })
  }
  const removable = ledgers.finished.slice(KEPT - 1)
  for (const { ledger } of removable) await deleteLedger(ledger.header, { client, namespace })
  return [...overlooked]
}
