import type { Observation } from '../../../machines/pod-upgrade/context.ts'
import { isEnding } from '../../../machines/pod-upgrade/facts.ts'
import { formerPod, halfDone } from '../../journal/former-pod.ts'
import type { FormerPod, Ledger, LedgerEntry, LedgerWorkload, PlacedLedger } from '../../journal/ledger.ts'
import type { Journal } from '../../pods/glossary.ts'
import { idOf } from '../../pods/workload-id.ts'
import type { RunEventBody } from '../events.ts'
import type { AssertOwned } from './create-part.ts'
import type { LedgerStore } from './ledger-store.ts'
import { createLedger, resumeLedger } from './ledger-store.ts'
import { listFenced } from './list-fenced.ts'
import { ledgerEntry } from '../rollout/pod-ports.ts'
import type { RunPorts, RunRequest } from '../request.ts'
import type { Owner, World } from '../world.ts'
import { openJournal } from '../../pods/open-journal.ts'
import { isSettled } from './open-entries.ts'
import type { AssessedWorkload } from '../planning.ts'

/** The ledger of this run, and the ledgers of earlier runs on the same workloads. */
export interface RunLedgers {
  current: LedgerStore
  /** The request was begun before, and goes on under the same run id. */
  resumed: boolean
  /** The ledgers of unfinished runs. This run settles the entries that they left open. */
  superseded: LedgerStore[]
  finished: PlacedLedger[]
  /** The ledgers that are only about other workloads. */
  elsewhere: Ledger[]
  /** The address of a pod when its targets were recorded. */
  addressOf(uid: string): string | undefined
}

export function allLedgers({ current, superseded, finished }: RunLedgers): Ledger[] {
  return [current, ...superseded, ...finished].map(({ ledger }) => ledger)
}

interface OpenOptions {
  request: RunRequest
  ports: RunPorts
  world: World
  /** The run id of a new run, and the fence of the open ledgers. */
  token: string
  tell(event: RunEventBody): void
  assertOwned: AssertOwned
  owners: Owner
}

/** Continues the ledger of the same request, or writes a new ledger with every pod before the first drain. */
export async function openRunLedger({
  request,
  ports,
  world,
  token,
  tell,
  assertOwned,
  owners,
}: OpenOptions): Promise<RunLedgers> {
  const options = { client: ports.client, namespace: request.namespace }
  const listed = await listFenced({ request, world, fence: token, ...options, assertOwned })
  for (const { run, problem } of listed.unreadable) tell({ type: 'warning', reason: { code: 'ledger-unreadable', run, problem } })
  const { elsewhere, finished } = listed
  const storeOf = (one: PlacedLedger): LedgerStore => resumeLedger(one, options)
  const same = listed.same && storeOf(listed.same)
  const superseded = listed.superseded.map(storeOf)
  const open = byAge([...(same ? [same] : []), ...superseded])

  const addressOf = (uid: string): string | undefined =>
    open.map(({ ledger }) => ledger.entries.get(uid)?.address).find((address) => address !== undefined)
  const known = [...open, ...finished].map(({ ledger }) => ledger).concat(elsewhere)
  world.own(known, owners)
  /** The open journal of a pod, and the data of that run's ledger on the pod before the upgrade. */
  const leftOf = ({ pod, stored }: Observation): [Journal | undefined, FormerPod | undefined] => {
    const journal = openJournal(stored)
    // The journal of another run tells of the pod before that run. The ledger of the run that drained the pod has the data that counts.
    const [recorded] = open.flatMap(({ ledger: { header, entries } }) =>
      header.run === journal?.run || header.run === journal?.origin ? (entries.get(pod.uid)?.before ?? []) : [],
    )
    return [journal, recorded]
  }
  const leftBeside = new Map(
    Array.from(Map.groupBy(plannedPods(world), ownerOf), ([owner, pods]) => [
      owner,
      pods.flatMap((one) => halfDone(...leftOf(one))),
    ]),
  )
  const planned = plannedPods(world).map(({ pod, stored, targets, adopted }): LedgerEntry => {
    const [journal, recorded] = leftOf({ pod, stored })
    // The pods of an owner record the same containers. Otherwise the container of one pod would count for all, and the template would get
    // its image.
    const wanted = [...world.imagesFor(pod), ...(leftBeside.get(ownerOf({ pod })) ?? [])]
    // A settled entry must not become open again: it would be settled once more after the pod went with its journal.
    const isOver = isEnding({ gone: false, pod }) && isSettled({ pod, stored }, known)
    const state = isOver ? ({ state: 'closed' } as const) : {}
    const voidBelow = world.boundOf(pod.uid)
    const entry = {
      ...ledgerEntry(pod, targets),
      ...state,
      ...(voidBelow && { voidBelow }),
      before: formerPod(pod, wanted, journal, recorded),
    }
    // The address at which the targets of a drained pod were found. The pod may have another address now.
    const address = adopted ? addressOf(pod.uid) : undefined
    return address === undefined ? entry : { ...entry, address }
  })
  // A ledger of a process that has lost the workload would never be closed, and a process must not continue the run of the present owner.
  await assertOwned()
  if (same) {
    if (!request.abort)
      await same.amend(
        {
          workloads: same.ledger.header.workloads.map((one) => withTemplate(one, world)),
          retired: [...(same.ledger.header.retired ?? []), ...world.retired()],
        },
        assertOwned,
      )
    // The prior state of a pod that is open already is the recorded one.
    await same.add(planned, assertOwned)
    return { current: same, resumed: true, superseded, finished, elsewhere, addressOf }
  }
  const undoes = world.undoing()?.run
  const current = await createLedger(
    {
      header: {
        run: token,
        workloads: world.workloads.map(ledgerWorkload),
        images: world.plan().images,
        ...(undoes === undefined ? {} : { undoes }),
        ...(world.retired().length === 0 ? {} : { retired: world.retired() }),
        startedAt: afterAll([...open, ...finished], ports.clock.wallNow()),
        chunks: 1,
      },
      entries: new Map(planned.map((entry) => [entry.uid, entry])),
    },
    options,
    assertOwned,
  )
  return { current, resumed: false, superseded, finished, elsewhere, addressOf }
}

function byAge<T extends { ledger: Ledger }>(some: readonly T[]): T[] {
  return some.toSorted((a, b) => (a.ledger.header.startedAt < b.ledger.header.startedAt ? 1 : -1))
}

/** The order of runs follows `startedAt`, so a new run starts after all known ones, whatever the clocks say. */
function afterAll(ledgers: readonly { ledger: Ledger }[], nowMs: number): string {
  const newestMs = Date.parse(byAge(ledgers)[0]?.ledger.header.startedAt ?? '')
  return new Date(Number.isNaN(newestMs) ? nowMs : Math.max(nowMs, newestMs + 1)).toISOString()
}

function ledgerWorkload({ workload: { ref, uid }, assessment: { template } }: AssessedWorkload): LedgerWorkload {
  if (template === undefined) return { ...idOf(ref), uid }
  const images = template.change.map(({ container, from }) => ({ container, image: from }))
  return { ...idOf(ref), uid, templates: [{ of: idOf(ref), images }] }
}

/** The template of a workload may have had the images when the run began, and have lost them since. */
function withTemplate(recorded: LedgerWorkload, { workloads }: World): LedgerWorkload {
  const now = recorded.templates ? undefined : workloads.find(({ workload }) => workload.uid === recorded.uid)
  return now ? ledgerWorkload(now) : recorded
}

function ownerOf({ pod }: Pick<Observation, 'pod'>): string {
  return pod.owner?.uid ?? pod.uid
}

interface PlannedPod extends Observation {
  targets: LedgerEntry['targets']
  /** An earlier run has left the pod half done. */
  adopted: boolean
}

/** The pods that may be drained, with their known targets. The snapshot right before the drain completes the targets. */
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
