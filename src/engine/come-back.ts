import type { JournalTarget, PodView } from '../pods/glossary.ts'
import { mayBeOpen } from '../pods/open-journal.ts'
import type { PodResult } from './events.ts'
import type { RunLedgers } from './history.ts'
import { allLedgers } from './history.ts'
import type { World } from './world.ts'

interface ComeBackOptions {
  ledgers: RunLedgers
  world: Pick<World, 'store' | 'traffic' | 'includes'>
  /** Pods as last seen, those that are gone among them. */
  podOf(uid: string): PodView | undefined
  isHeir(gone: PodView, candidate: PodView): boolean
}

/**
 * At the end of a run: of a pod in whose place nothing was to come, and whose entries were left out for that, another may have come
 * all the same. Found by trial: a workload was scaled down and up again while a pod of it was drained; the run said done, and the
 * new pod was out of rotation for good. Nothing is put back by guess: somebody may have the entry out by now.
 */
export async function withComeBack(pods: readonly PodResult[], options: ComeBackOptions): Promise<PodResult[]> {
  return Promise.all(pods.map((result) => (result.outcome === 'settled' ? afterAll(result, options) : result)))
}

async function afterAll(result: PodResult, { ledgers, world, podOf, isHeir }: ComeBackOptions): Promise<PodResult> {
  const gone = podOf(result.uid)
  const drained =
    allLedgers(ledgers)
      .find(({ entries }) => entries.has(result.uid))
      ?.entries.get(result.uid)?.targets ?? []
  if (gone === undefined || drained.every(({ untouched }) => untouched)) return result
  const heir = Array.from(world.store.all()).find(
    // What is open for it is its own machine's to tell.
    ({ pod, stored }) => world.includes(pod) && !mayBeOpen(stored) && isHeir(gone, pod),
  )?.pod
  if (heir === undefined) return result
  const found = await world.traffic.relocate(heir, drained)
  if (found.kind !== 'same') return result
  const { targets = drained } = found
  const { state } = await world.traffic.inspect(heir.uid, targets)
  if (state !== 'out' && state !== 'mixed') return result
  return {
    ...result,
    outcome: 'needsOperator',
    out: true,
    reason: `${namesOf(targets)} was drained for it, and left out since nothing was to come in its place: ${heir.name} has come there all the same, and is out of rotation`,
    instructions: [
      'Put these entries back, unless somebody else wants them out; before the drain they were as given:',
      ...touched(targets).map(({ loadBalancer, target, prior }) => `  ${loadBalancer}: ${target}, was ${JSON.stringify(prior)}`),
    ].join('\n'),
  }
}

function touched(targets: readonly JournalTarget[]): JournalTarget[] {
  return targets.filter(({ untouched }) => !untouched)
}

function namesOf(targets: readonly JournalTarget[]): string {
  return touched(targets)
    .map(({ loadBalancer, target }) => `${loadBalancer}/${target}`)
    .join(', ')
}
