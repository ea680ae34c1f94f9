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

/** The state of left-out entries after a pod has come: `served` where the pod gets its requests. */
type Standing = { kind: 'served' } | { kind: 'out' | 'unknown'; reason: Reason }

/**
 * Finds replacements that came after all for pods whose entries were left out, at the end of a run. Such a pod would stay out of rotation
 * for good. Nothing is restored by guess, since an operator may have the entry out by now; the result tells of it.
 */
export async function withComeBack(pods: readonly PodResult[], options: ComeBackOptions): Promise<PodResult[]> {
  const { current, superseded } = options.ledgers
  const told = new Set(pods.map(({ uid }) => uid))
  // A run that was killed or interrupted may have left entries out without telling, so earlier ledgers are searched too.
  const untold = [current, ...superseded].flatMap(({ ledger }) => leftOutEntries(ledger).filter(({ uid }) => !told.has(uid)))
  const earlier = new Map(untold.map((entry) => [entry.uid, entry]))
  const [ours, theirs] = await Promise.all([
    Promise.all(pods.map(async (result) => (isLeftOut(result) ? ((await afterAll(result, options)) ?? result) : result))),
    Promise.all(Array.from(earlier.values(), (entry) => afterAll(leftBefore(entry), options))),
  ])
  const news = theirs.filter((result) => result !== undefined)
  // The result of an earlier machine is in the ledger. The event replaces it there, so that `sluice status` tells of the pod.
  for (const result of [...ours.filter((one) => !pods.includes(one)), ...news]) options.tell({ type: 'podFinished', result })
  return [...ours, ...news]
}

/** Reports whether the entries were left out, and are not known to hurt another pod. */
function isLeftOut({ traffic, outcome }: PodResult): boolean {
  return traffic === 'leftOut' && outcome === 'settled'
}

function leftBefore({ uid, pod, targets }: LedgerEntry): PodResult {
  const reason = { code: 'left-out', entries: entriesOf(touched(targets)), byRecord: true } as const
  return { uid, pod, outcome: 'settled', reason, traffic: 'leftOut', record: 'closed', advice: [], phases: {} }
}

/** The result after the look. Undefined where nothing is left out. */
async function afterAll(result: PodResult, options: ComeBackOptions): Promise<PodResult | undefined> {
  const { ledgers, world, namespace, isHeir } = options
  const ledger = allLedgers(ledgers).find(({ entries }) => entries.has(result.uid))
  const entry = ledger?.entries.get(result.uid)
  const drained = touched(entry?.targets ?? [])
  if (ledger === undefined || entry === undefined || drained.length === 0) return undefined
  const gone = ghost(entry, world, namespace)
  // In a run by label, the replacement may be beside the requested pods.
  const heir = candidatesIn(world)
    .all()
    .findLast(
      // A pod with an open record has a machine, which tells of it.
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
      // No later run looks after the entries of a finished run, so there is no statement to make.
      ...(ledger.header.finishedAt === undefined ? [resolveAdvice(result, namespace)] : []),
    ],
  }
}

function resolveAdvice({ pod: name }: PodResult, namespace: string): Advice {
  const said = (['in', 'out'] as const).map((traffic) => resolve({ name, namespace }, { gone: true, traffic }))
  return { code: 'say-how-entries-stand', commands: said }
}

/** Looks several times, since a load balancer can be away for a moment. A lasting doubt is told. */
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
  // The state is only an assumption, while the record says that the entry is out.
  if (supposed) return doubt(detail)
  // sluice has not left out an entry that was removed, or that is in rotation.
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
