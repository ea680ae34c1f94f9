import type { LedgerEntry } from '../../journal/ledger.ts'
import { pause } from '../../kube/pause.ts'
import type { JournalTarget, PodView } from '../../pods/glossary.ts'
import { mayBeOpen } from '../../pods/open-journal.ts'
import type { Clock } from '../../ports/clock.ts'
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
type Standing = { kind: 'served' } | { kind: 'out' | 'unknown'; message: string }

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
function isLeftOut({ leftOut, outcome }: PodResult): boolean {
  return leftOut === true && outcome === 'settled'
}

function leftBefore({ uid, pod, targets }: LedgerEntry): PodResult {
  const reason = `gone for good; ${namesOf(touched(targets))} stays out of rotation, as its record says`
  return { uid, pod, outcome: 'settled', reason, out: false, leftOut: true, phases: {} }
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
    out: true,
    reason: `${namesOf(drained)} was drained for it, and left out since nothing was to come in its place: ${standing.message}`,
    instructions: [
      `These entries are to be as they were before the drain, at the address of ${heir.name}, unless somebody else wants them out:`,
      ...drained.map(({ loadBalancer, target, prior }) => `  ${loadBalancer}: ${target}, was ${JSON.stringify(prior)}`),
      // Of a run that was over before the pod was seen nobody asks again.
      ...(ledger.header.finishedAt === undefined ? resolveInstructions(result, namespace) : []),
    ].join('\n'),
  }
}

function resolveInstructions({ pod }: PodResult, namespace: string): string[] {
  const command = `  sluice resolve pod/${pod} -n ${namespace} --gone --traffic`
  return [
    'Once each is as it should be, say so, and then run the same command again:',
    `${command} in    # put back, or removed`,
    `${command} out   # somebody wants it out, and no run is to put it back`,
  ]
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
  const doubt = (why: string): Standing => ({
    kind: 'unknown',
    message: `${heir.name} has come all the same, and whether it is in rotation cannot be known: ${why}`,
  })
  if (found.kind === 'unknown') return doubt(found.message)
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
    message: isThere
      ? `${heir.name} has come there all the same, and is out of rotation`
      : `${heir.name} has come all the same, and ${found.message}`,
  }
}

function touched(targets: readonly JournalTarget[]): JournalTarget[] {
  return targets.filter(({ untouched }) => !untouched)
}

function namesOf(targets: readonly JournalTarget[]): string {
  return targets.map(({ loadBalancer, target }) => `${loadBalancer}/${target}`).join(', ')
}
