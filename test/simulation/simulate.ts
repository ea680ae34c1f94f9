import { check } from './checker/check.ts'
import type { Happening, HistoryEntry, Scenario } from './checker/history.ts'
import { createCommands } from './commands.ts'
import type { Guard } from './determinism.ts'
import { createFaults } from './faults.ts'
import { WALL_EPOCH } from './host.ts'
import type { Host } from './host.ts'
import { scheduleIncidents } from './incidents.ts'
import { imageOf, NAMESPACE } from './manifests.ts'
import { createRandom } from './random.ts'
import type { IncidentKind, Scene } from './scene.ts'
import { createScheduler } from './scheduler.ts'
import { createSupervisor, selectionIn } from './supervisor.ts'
import { createWorld } from './world.ts'

/** The time in calm after which a run is taken for endless. */
const PATIENCE_MS = 1_800_000
const MOST_TURNS = 300_000
/** The time after the end of the last process, in which everything under way arrives. */
const AFTERMATH_MS = 30_000

export interface SimulationResult {
  history: HistoryEntry[]
  violations: { invariant: string; message: string }[]
  upgrades: number
  /** The kinds of faults that took effect. */
  hits: Set<string>
  /** The outcomes of the processes. */
  ends: string[]
  /** The number of deliveries to each process, in the order of their starts: the points at which each could have been killed. */
  deliveries: number[]
}

export interface SimulationOptions {
  guard?: Guard
  /** Adds each lost request to the history, for a human reader. */
  withFaultDetails?: boolean
  /** Kills the process with this number (the first is 0) before its delivery with this number. */
  kills?: readonly { process: number; delivery: number }[]
}

/** Runs one scene from beginning to end, and judges it. */
export async function simulate(scene: Scene, options: SimulationOptions = {}): Promise<SimulationResult> {
  const { guard, kills = [] } = options
  const random = createRandom(scene.seed)
  const scheduler = createScheduler()
  const history: HistoryEntry[] = []
  const violations: { invariant: string; message: string }[] = []
  const hits = new Set<string>()
  const hosts: Host[] = []
  const tell = (happening: Happening): void =>
    void history.push({ at: Math.round(scheduler.now() * 1_000) / 1_000, ...happening })
  const hit = (fault: string, detail: string): void => {
    hits.add(fault)
    if (options.withFaultDetails === true) tell({ type: 'fault', fault, detail })
  }
  const faults = createFaults({
    scheduler,
    random: random.fork('faults'),
    kinds: new Set(scene.faults),
    rate: scene.rate,
    longestCallMs: scene.longestCallMs,
    hit,
  })

  guard?.on(() => WALL_EPOCH + scheduler.now())
  try {
    const world = createWorld({ scene, scheduler, random: random.fork('world'), tell, hit })
    const limits = { untilMs: scene.calmAtMs + PATIENCE_MS, mostTurns: MOST_TURNS }
    const areReady = (): boolean => {
      const pods = world.pods()
      return pods.length === scene.pods && pods.every((pod) => isReady(pod))
    }
    if (!(await scheduler.run({ ...limits, done: areReady }))) throw new Error('the pods of the scene did not become ready')
    world.balance()

    const commands = createCommands({
      scheduler,
      random,
      world,
      faults,
      hosts,
      ...(kills.length === 0
        ? {}
        : {
            onDelivery(place, { deliveries }, stream) {
              const kill = kills.find(({ process }) => process === place)
              if (deliveries === kill?.delivery) supervisor.crash(stream.between(100, 3_000))
            },
          }),
      select: selectionIn(scene),
      tell,
      withDetails: options.withFaultDetails === true,
      onBug(error) {
        violations.push({ invariant: 'bug', message: error instanceof Error ? (error.stack ?? error.message) : String(error) })
      },
    })
    const supervisor = createSupervisor({
      scene,
      scheduler,
      random: random.fork('supervisor'),
      commands,
      hit,
      tell,
    })
    const scenario: Scenario = {
      seed: scene.seed,
      levels: Object.fromEntries(scene.balancers.map(({ name, level }) => [name, level])),
      namespace: NAMESPACE,
      maxUnavailable: windowOf(scene),
      wanted: { app: imageOf(scene.image) },
      ...(scene.settings.drainNotFor === undefined ? {} : { undrained: scene.settings.drainNotFor }),
      ...(scene.settings.onDrainDeadline === 'proceed' ? { proceedsAfterMs: scene.settings.drainDeadlineMs } : {}),
      uncounted: scene.balancers.filter(({ level, countsRequests }) => level === 'G0' || !countsRequests).map(({ name }) => name),
      trailMs: Object.fromEntries(scene.balancers.map(({ name, lagMs }) => [name, lagMs])),
      ...agesOf(scene),
    }
    supervisor.begin()
    const stopIncidents = scheduleIncidents({
      scene,
      scheduler,
      random: random.fork('incidents'),
      world,
      supervisor,
      faults,
      hosts,
      hit,
    })
    let isCalm = false
    function calm(): void {
      if (isCalm) return
      isCalm = true
      stopIncidents()
      faults.calm()
      supervisor.calm()
      tell({ type: 'calm' })
    }
    scheduler.after(scene.calmAtMs, calm)
    const hasEnded = await scheduler.run({ ...limits, done: supervisor.isDone })
    calm()
    if (!hasEnded)
      violations.push({ invariant: 'I6', message: `stuck: the run has not come to its end by ${scheduler.now()} ms` })
    const end = scheduler.now() + AFTERMATH_MS
    await scheduler.run({ done: () => false, untilMs: end, mostTurns: MOST_TURNS })
    violations.push(...check(history, scenario))
    return {
      history,
      violations,
      upgrades: supervisor.upgrades,
      hits,
      ends: supervisor.ends,
      deliveries: hosts.map(({ deliveries }) => deliveries),
    }
  } finally {
    guard?.off()
  }
}

function isReady({ status }: Record<string, unknown>): boolean {
  const { conditions = [], podIP } = (status ?? {}) as { conditions?: { type: string; status: string }[]; podIP?: string }
  return podIP !== undefined && conditions.some((one) => one.type === 'Ready' && one.status === 'True')
}

/** The incidents that hold sluice up. Without them, sluice has to be quick. */
const HELD_UP_BY: ReadonlySet<IncidentKind> = new Set([
  'stop',
  'takeover',
  'api-server-restart',
  'balancer-restart',
  'balancer-throttles',
])

/** Returns the greatest ages of what a process knows. */
function agesOf({ balancers, faults, rate, incidents }: Scene): { lagMs: number; watchMs: number; staleMs: number } {
  const staleMs = Math.max(...balancers.map((balancer) => balancer.staleMs))
  const isSmooth = (faults.length === 0 || rate === 0) && !incidents.some(({ kind }) => HELD_UP_BY.has(kind))
  // A watch may lag by 4 s, regardless of the rate of the other faults, which cut its lines off and list them again.
  const lateMs = faults.includes('watch-lag') ? 4_000 : 0
  const isWatched =
    !incidents.some(({ kind }) => kind === 'api-server-restart') &&
    (rate === 0 || !faults.some((fault) => fault.startsWith('watch-') && fault !== 'watch-lag'))
  // A stale read is used only after its load balancer has settled.
  const settleMs = Math.max(...balancers.map((one) => (one.staleMs === 0 ? 0 : one.staleMs + one.lagMs)))
  return {
    lagMs: isSmooth ? 1_500 + settleMs + lateMs : 10_000,
    watchMs: isWatched ? 300 + lateMs : 10_000,
    staleMs,
  }
}

function windowOf({ settings: { maxUnavailable }, pods }: Scene): number {
  return 'count' in maxUnavailable ? maxUnavailable.count : Math.max(1, Math.floor((pods * maxUnavailable.percent) / 100))
}
