import type { LedgerEntry } from '../../journal/ledger.ts'
import { pause } from '../../kube/pause.ts'
import type { JournalTarget, PodView } from '../../pods/glossary.ts'
import { mayBeOpen } from '../../pods/open-journal.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Advice } from '../../reasons/advice.ts'
import type { LoadBalancerEntry } from '../../reasons/fields.ts'
import type { Reason } from '../../reasons/reason.ts'
import { entriesBefore, resolve } from '../advice.ts'
import type { PodResult, RunEventBody } from '../events.ts'
import { candidatesIn } from './candidates.ts'
import { ghost } from './ghosts.ts'
import type { RunLedgers } from '../ledgers/history.ts'
import { allLedgers } from '../ledgers/history.ts'
import { leftOutEntries } from '../ledgers/left-out-entries.ts'
import type { World } from '../world.ts'

const LOOK_AGAIN_MS = 1_000
const MOST_LOOKS = 5

interface ComeBackOptions {
  clock: Clock
  signal: AbortSignal
  ledgers: RunLedgers
  world: Pick<World, 'store' | 'beside' | 'traffic' | 'workloads' | 'workloadOf'>
  namespace: string
  isHeir(gone: PodView, candidate: PodView): boolean
  tell(event: RunEventBody): void
}

/** How the entries stand that were left out, by what has come: `served` where that is not hurt. */
type Standing = { kind: 'served' } | { kind: 'out' | 'unknown'; reason: Reason }

/**
 * At the end of a run: of a pod in whose place nothing was to come, and whose entries were left out for that, another may have come
 * all the same. Found by trial: a workload was scaled down and up again while a pod of it was drained; the run said done, and the
 * new pod was out of rotation for good. Nothing is put back by guess: somebody may have the entry out by now.
 */
export async function withComeBack(pods: readonly PodResult[], options: ComeBackOptions): Promise<PodResult[]> {
  const { current, superseded } = options.ledgers
  const told = new Set(pods.map(({ uid }) => uid))
  // Found by simulation (seeds 90000598, 44618178): who had left it out was killed before its end, or interrupted in the moment
  // before it said so, and the next one told nobody.
  const untold = [current, ...superseded].flatMap(({ ledger }) => leftOutEntries(ledger).filter(({ uid }) => !told.has(uid)))
  const earlier = new Map(untold.map((entry) => [entry.uid, entry]))
  const [ours, theirs] = await Promise.all([
    Promise.all(pods.map(async (result) => (isLeftOut(result) ? ((await afterAll(result, options)) ?? result) : result))),
    Promise.all(Array.from(earlier.values(), (entry) => afterAll(leftBefore(entry), options))),
  ])
  const news = theirs.filter((result) => result !== undefined)
  // Found by a new user: what its own machine had told before stood in the ledger, and `sluice status` said nothing of it.
  for (const result of [...ours.filter((one) => !pods.includes(one)), ...news]) options.tell({ type: 'podFinished', result })
  return [...ours, ...news]
}

/** And it is not known that it hurts another. */
function isLeftOut({ traffic, outcome }: PodResult): boolean {
  return traffic === 'leftOut' && outcome === 'settled'
}

function leftBefore({ uid, pod, targets }: LedgerEntry): PodResult {
  const reason = { code: 'left-out', entries: entriesOf(touched(targets)), byRecord: true } as const
  return { uid, pod, outcome: 'settled', reason, traffic: 'leftOut', record: 'closed', advice: [], phases: {} }
}

/** Undefined where there is nothing that is left out. */
async function afterAll(result: PodResult, options: ComeBackOptions): Promise<PodResult | undefined> {
  const { ledgers, world, namespace, isHeir } = options
  const ledger = allLedgers(ledgers).find(({ entries }) => entries.has(result.uid))
  const entry = ledger?.entries.get(result.uid)
  const drained = touched(entry?.targets ?? [])
  if (ledger === undefined || entry === undefined || drained.length === 0) return undefined
  const gone = ghost(entry, world, namespace)
  // Found by simulation (seed 93152503): of a run by label it is beside those that are asked for.
  const heir = candidatesIn(world)
    .all()
    .findLast(
      // What is open for it is its own machine's to tell.
      ({ pod, stored }) => world.workloadOf(pod) !== undefined && !mayBeOpen(stored) && isHeir(gone, pod),
    )?.pod
  if (heir === undefined) return result
  const standing = await patiently(() => standingOf(heir, { gone, drained }, world), options)
  if (standing.kind === 'served') return undefined
  return {
    ...result,
    outcome: 'needsOperator',
    traffic: 'out',
    reason: { code: 'left-out-and-replaced', entries: entriesOf(drained), because: standing.reason },
    advice: [
      { code: 'entries-of-replacement', replacement: heir.name, entries: entriesBefore(drained) },
      // Of a run that was over before the pod was seen nobody asks again.
      ...(ledger.header.finishedAt === undefined ? [resolveAdvice(result, namespace)] : []),
    ],
  }
}

function resolveAdvice({ pod: name }: PodResult, namespace: string): Advice {
  const said = (['in', 'out'] as const).map((traffic) => resolve({ name, namespace }, { gone: true, traffic }))
  return { code: 'say-how-entries-stand', commands: said }
}

/** A load balancer that is away for a moment says nothing; one that stays away leaves it in doubt, and doubt is told. */
async function patiently(look: () => Promise<Standing>, { clock, signal }: ComeBackOptions): Promise<Standing> {
  for (let looks = 1; ; looks++) {
    const standing = await look()
    if (standing.kind !== 'unknown' || looks === MOST_LOOKS || !(await pause(clock, LOOK_AGAIN_MS, signal))) return standing
  }
}

interface Left {
  gone: PodView
  drained: readonly JournalTarget[]
}

async function standingOf(heir: PodView, { gone, drained }: Left, { traffic }: Pick<World, 'traffic'>): Promise<Standing> {
  const found = await traffic.relocate(heir, drained)
  const replacement = heir.name
  const doubt = (because: Reason): Standing => ({
    kind: 'unknown',
    reason: { code: 'replacement-in-doubt', replacement, because },
  })
  if (found.kind === 'unknown') return doubt(found.reason)
  const isThere = found.kind === 'same'
  const { state, removed, supposed, detail } = await traffic.inspect(
    isThere ? heir.uid : gone.uid,
    (isThere && found.targets) || drained,
  )
  if (state === 'unknown') return doubt(detail)
  // Found by simulation (seed 44815568): it was only taken to be in, and its record says out.
  if (supposed) return doubt(detail)
  // An entry that is gone, or that somebody has in rotation, is nothing that sluice has left out.
  if (removed || state === 'in') return { kind: 'served' }
  return {
    kind: 'out',
    reason:
      found.kind === 'same'
        ? { code: 'replacement-is-out', replacement }
        : { code: 'replacement-elsewhere', replacement, because: found.reason },
  }
}

function touched(targets: readonly JournalTarget[]): JournalTarget[] {
  return targets.filter(({ untouched }) => !untouched)
}

function entriesOf(targets: readonly JournalTarget[]): LoadBalancerEntry[] {
  return targets.map(({ loadBalancer, target }) => ({ loadBalancer, target }))
}
