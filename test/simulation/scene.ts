import type { RunSettings } from '../../src/engine/settings.ts'
import type { WireFault } from './faults.ts'
import { WIRE_FAULTS } from './faults.ts'
import type { SeededRandom } from './random.ts'
import { createRandom } from './random.ts'

export type Level = 'G0' | 'G1' | 'G2' | 'G3'

/** The incidents in the world, each at one moment of a seed. Lost requests are faults instead. */
export const INCIDENTS = [
  'crash',
  'stop',
  'takeover',
  'rival',
  'interrupt',
  'api-server-restart',
  'balancer-reload',
  'balancer-restart',
  'balancer-throttles',
  'pod-deleted',
  'pod-force-deleted',
  'pod-evicted',
  'sandbox-died',
  'container-crash',
  'kubelet-restart',
  'late-heartbeat',
  'clock-jump',
  'admission-refuses',
  'admission-rewrites',
  'journal-edited',
  'operator-weight',
  'operator-maintenance',
  'operator-ends-maintenance',
  'template-edited',
] as const

/** Patches of another image into a pod by hand. The patch stays, or is taken back after `forMs`. */
export const BY_HAND = ['images-patched', 'images-patched-back'] as const
/** Changes by others to the workload or to sluice's records. They are rare, and have a stream of their own. */
export const BY_OTHERS = ['lease-deleted', 'scaled-down', 'lease-cleared'] as const
/** The orders of an operator during a run, by commands of their own. */
export const ORDERS = ['abort', 'pause', 'other-images'] as const
/** The orders, and the commands that follow from the end of a run. */
export const WISHES = [...ORDERS, 'part', 'undo', 'resolve'] as const
export type IncidentKind =
  | (typeof INCIDENTS)[number]
  | (typeof BY_HAND)[number]
  | (typeof BY_OTHERS)[number]
  | (typeof ORDERS)[number]

export interface Incident {
  atMs: number
  kind: IncidentKind
  /** The number of the pod or load balancer, modulo their count. */
  which: number
  /** The duration of the incident, in milliseconds, for incidents that last. */
  forMs: number
}

/** A command about some pods of the workload. The command for all pods is given again after it. */
export interface PartScene {
  atMs: number
  /** The way in which the command begins: beside the present process, or after that process was stopped in this way. */
  how: 'rival' | 'interrupt' | 'crash' | 'takeover'
  /** The numbers of the pods, modulo their count. */
  places: number[]
  /** True where the command selects the pods by a label. */
  byLabel: boolean
  /** True where another image is wanted from here on, and these pods get it first. */
  isFirst: boolean
  /** The time until the command is given, or until the stopped process continues, in milliseconds. */
  forMs: number
}

export interface BalancerScene {
  name: string
  level: Level
  weights: number[]
  /** The places of pods that an operator has in maintenance from the start. */
  maintained: number[]
  /** The greatest age of a read-back, in milliseconds. */
  staleMs: number
  /** True where a reload forgets the settings made at run time. */
  volatile: boolean
  /** The duration of the longest request, in milliseconds. */
  longestRequestMs: number
  /** The time after a drain in which new requests still arrive, in milliseconds. The adapter declares it. */
  lagMs: number
  /** True where the balancer knows the number of requests under way, if it can be read. */
  countsRequests: boolean
  /** The most targets in one call. */
  batch: number
  /** True where the balancer sometimes does only a part of a batch. */
  partial: boolean
  /** True where each change is made under a Lease, as for a document without a version. */
  locked: boolean
  /** Its turn in the order of drains; the first turn by default. No seed sets it. */
  turn?: number
}

/** Everything that a seed decides before it begins, as plain data. A replay prints it. */
export interface Scene {
  seed: number
  workload: 'StatefulSet' | 'DaemonSet' | 'Pod' | 'Deployment'
  pods: number
  hostNetwork: boolean
  probe: boolean
  sidecar: boolean
  service: boolean
  readyAfterMs: number
  preStopMs: number
  graceSeconds: number
  /** True where a new pod, or a pod with a new sandbox, gets the address that became free last. */
  fixedAddresses: boolean
  /** True for kubelets before 1.34: they report no generation, and their Events may come late or not at all. */
  oldKubelets: boolean
  /** The wanted image: a good image, the old digest under a new tag, a missing image, or an image that crashes. */
  image: 'v2' | 'v1-again' | 'bad' | 'crash'
  /** The containers of the first request; the application only by default. Later requests are about both. */
  changes?: 'proxy' | 'both'
  balancers: BalancerScene[]
  settings: RunSettings
  faults: WireFault[]
  rate: number
  /** The longest time that a call to a load balancer may be under way, in milliseconds. */
  longestCallMs: number
  incidents: Incident[]
  part?: PartScene
  /** True where a release that has failed or is done is taken back, instead of the next release. */
  takesBack: boolean
  /** True where an operator that is asked looks at the load balancers, and states what is so. */
  resolves: boolean
  /** The time from which no faults happen, in milliseconds. */
  calmAtMs: number
}

/** The life of a call as the engine assumes it. Within it, the levels keep their guarantees. */
const BOUNDED_CALL_MS = 9_500

export const PLAIN_SETTINGS: RunSettings = {
  maxUnavailable: { count: 1 },
  readyForMs: 0,
  onFailure: 'hold',
  drainDeadlineMs: 60_000,
  onDrainDeadline: 'fail',
  restartDeadlineMs: 60_000,
  rollbackDeadlineMs: 60_000,
  readyDeadlineMs: 60_000,
  restoreDeadlineMs: 60_000,
}

/** Returns a scene with one plain load balancer and without faults. */
export function plainScene(change: Partial<Scene> = {}): Scene {
  return {
    seed: 1,
    workload: 'StatefulSet',
    pods: 1,
    hostNetwork: false,
    probe: true,
    sidecar: false,
    service: false,
    readyAfterMs: 1_000,
    preStopMs: 0,
    graceSeconds: 5,
    fixedAddresses: true,
    oldKubelets: false,
    image: 'v2',
    balancers: [plainBalancer()],
    settings: PLAIN_SETTINGS,
    faults: [],
    rate: 0,
    longestCallMs: BOUNDED_CALL_MS,
    incidents: [],
    takesBack: false,
    resolves: false,
    calmAtMs: 0,
    ...change,
  }
}

export function plainBalancer(change: Partial<BalancerScene> = {}): BalancerScene {
  return {
    name: 'edge',
    level: 'G1',
    weights: [1],
    maintained: [],
    staleMs: 0,
    volatile: false,
    longestRequestMs: 300,
    lagMs: 0,
    countsRequests: true,
    batch: 10,
    partial: false,
    locked: false,
    ...change,
  }
}

/** The probabilities of each kind of fault and order in a seed, and the rate of a fault. */
interface Density {
  fault: number
  rates: readonly number[]
  incident: number
  byHand: number
  byOthers: number
  order: number
  part: number
}

/** Few kinds in a seed, so that each kind occurs alone and in every combination. */
const USUAL: Density = {
  fault: 0.2,
  rates: [0, 0.01, 0.03, 0.1, 0.2],
  incident: 0.12,
  byHand: 0.07,
  byOthers: 0.05,
  order: 0.08,
  part: 0.3,
}
/** Many kinds in a seed, for a search: a combination of five kinds is rare among the usual seeds. */
const HARSH: Density = {
  fault: 0.45,
  rates: [0.05, 0.1, 0.2, 0.3],
  incident: 0.4,
  byHand: 0.25,
  byOthers: 0.25,
  order: 0.25,
  part: 0.6,
}

/** Returns the scene of a seed. A harsh scene differs from the usual scene of the same seed. */
export function sceneOf(seed: number, { harsh = false }: { harsh?: boolean } = {}): Scene {
  const density = harsh ? HARSH : USUAL
  const random = createRandom(seed, 'scene')
  const workload = random.pick(['StatefulSet', 'StatefulSet', 'DaemonSet', 'Pod', 'Deployment'] as const)
  const pods = random.pick([1, 1, 2, 2, 3, 4])
  const calmAtMs = random.between(5_000, 60_000)
  const level = random.pick(['G0', 'G1', 'G1', 'G1', 'G2', 'G3'] as const)
  const names = random.chance(0.25) ? ['edge', 'inner'] : ['edge']
  // A stream of its own: a seed without wishes keeps the scene that it had before wishes existed.
  const wishes = random.fork('wishes')
  const scene: Scene = {
    seed,
    workload,
    pods,
    hostNetwork: workload === 'DaemonSet' && random.chance(0.5),
    probe: random.chance(0.8),
    sidecar: random.chance(0.2),
    service: random.chance(0.4),
    readyAfterMs: random.pick([0, 500, 1_000, 3_000]),
    preStopMs: random.pick([0, 0, 500, 2_000]),
    graceSeconds: random.pick([1, 5, 5]),
    fixedAddresses: random.chance(0.7),
    oldKubelets: random.fork('kubelets').chance(0.1),
    image: random.pick(['v2', 'v2', 'v2', 'v2', 'v1-again', 'bad', 'crash'] as const),
    // Two load balancers often have two levels: a target that can be read counts regardless of one that cannot.
    balancers: names.map((name) =>
      balancerOf(random.fork(name), name, name === 'inner' ? levelBeside(level, random) : level, pods),
    ),
    settings: {
      ...PLAIN_SETTINGS,
      maxUnavailable: random.pick([{ count: 1 }, { count: 1 }, { count: 2 }, { percent: 50 }, { percent: 100 }]),
      readyForMs: random.pick([0, 0, 1_000]),
      onDrainDeadline: random.pick(['fail', 'fail', 'proceed'] as const),
      drainDeadlineMs: random.pick([5_000, 60_000]),
      restartDeadlineMs: random.pick([20_000, 60_000]),
      onFailure: wishes.pick(['hold', 'hold', 'rollback'] as const),
    },
    faults: WIRE_FAULTS.filter(() => random.chance(density.fault)),
    rate: random.pick(density.rates),
    longestCallMs: BOUNDED_CALL_MS,
    incidents: [
      ...incidentsOf(random.fork('incidents'), { calmAtMs, density }),
      ...byHandOf(random.fork('by hand'), { calmAtMs, density }),
      ...byOthersOf(random.fork('by others'), { calmAtMs, density }),
      ...ordersOf(wishes, { calmAtMs, density }),
    ].toSorted((a, b) => a.atMs - b.atMs),
    ...(workload !== 'Pod' && pods > 1 ? partOf(random.fork('part'), { pods, calmAtMs, density }) : {}),
    takesBack: wishes.chance(0.15),
    resolves: wishes.chance(0.5),
    calmAtMs,
  }
  return { ...scene, ...withoutDrain(scene, random.fork('not for')) }
}

/** Chooses a sidecar that may restart in rotation: alone, or together with the application, which may not. */
function withoutDrain({ sidecar, settings }: Scene, random: SeededRandom): Partial<Pick<Scene, 'changes' | 'settings'>> {
  if (!sidecar || !random.chance(0.4)) return {}
  return { changes: random.pick(['proxy', 'proxy', 'both'] as const), settings: { ...settings, drainNotFor: ['proxy'] } }
}

function levelBeside(level: Level, random: SeededRandom): Level {
  const own = random.fork('level of inner')
  return own.chance(0.5) ? own.pick(['G0', 'G1', 'G2', 'G3'] as const) : level
}

function balancerOf(random: SeededRandom, name: string, level: Level, pods: number): BalancerScene {
  const places = Array.from({ length: pods }, (_, place) => place)
  // The lag has a stream of its own, as the wishes have. It often comes with a balancer that does not count: then only the settle time
  // protects.
  const late = random.fork('late')
  const isLate = late.chance(0.2)
  return {
    name,
    level,
    weights: places.map(() => random.pick([1, 1, 1, 7, 50])),
    maintained: pods > 1 && random.chance(0.1) ? [random.integer(0, pods - 1)] : [],
    staleMs: level === 'G1' && random.chance(0.2) ? random.pick([200, 1_000]) : 0,
    // The loss of settings on a balancer that cannot be read would stay unknown.
    volatile: (level === 'G1' || level === 'G2') && random.chance(0.3),
    longestRequestMs: random.pick([0, 100, 100, 300, 2_000]),
    lagMs: isLate ? late.pick([300, 1_000, 3_000]) : 0,
    countsRequests: !late.chance(isLate ? 0.5 : 0.125),
    batch: random.pick([1, 10, 10]),
    partial: random.chance(0.1),
    locked: random.fork('lock').chance(0.1),
  }
}

interface Moments {
  calmAtMs: number
  density: Density
}

function incidentsOf(random: SeededRandom, { calmAtMs, density }: Moments): Incident[] {
  const kinds = INCIDENTS.filter(() => random.chance(density.incident))
  const incidents: Incident[] = []
  for (const kind of kinds) {
    const times = kind === 'crash' ? random.integer(1, 4) : 1
    for (let time = 0; time < times; time++) incidents.push(incidentOf(kind, random, calmAtMs))
  }
  return incidents
}

/** The patch is taken back before it is seen, while the kubelet handles it, or when its container runs. */
function byHandOf(random: SeededRandom, { calmAtMs, density }: Moments): Incident[] {
  return BY_HAND.filter(() => random.chance(density.byHand)).map((kind) => ({
    ...incidentOf(kind, random, calmAtMs),
    forMs: random.pick([50, 200, 1_000, 2_000, 5_000, 20_000]),
  }))
}

function byOthersOf(random: SeededRandom, { calmAtMs, density }: Moments): Incident[] {
  return BY_OTHERS.filter(() => random.chance(density.byOthers)).map((kind) => incidentOf(kind, random, calmAtMs))
}

function ordersOf(random: SeededRandom, { calmAtMs, density }: Moments): Incident[] {
  return ORDERS.filter(() => random.chance(density.order)).map((kind) => incidentOf(kind, random, calmAtMs))
}

function partOf(random: SeededRandom, { pods, calmAtMs, density }: Moments & Pick<Scene, 'pods'>): Pick<Scene, 'part'> {
  if (!random.chance(density.part)) return {}
  const first = random.integer(0, pods - 1)
  return {
    part: {
      atMs: momentOf(random, calmAtMs),
      how: random.pick(['rival', 'interrupt', 'crash', 'takeover'] as const),
      places: Array.from({ length: random.integer(1, pods - 1) }, (_, more) => first + more),
      byLabel: random.chance(0.3),
      isFirst: random.chance(0.3),
      forMs: random.pick([200, 2_000, 20_000]),
    },
  }
}

function incidentOf(kind: IncidentKind, random: SeededRandom, calmAtMs: number): Incident {
  const atMs = momentOf(random, calmAtMs)
  return { atMs, kind, which: random.integer(0, 9), forMs: random.pick([200, 2_000, 20_000, 40_000]) }
}

/** Returns a moment. Most of a small upgrade happens within its first seconds. */
function momentOf(random: SeededRandom, calmAtMs: number): number {
  return random.chance(0.6) ? random.between(0, Math.min(8_000, calmAtMs)) : random.between(0, calmAtMs)
}
