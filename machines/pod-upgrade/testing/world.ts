import type { ReasonOf } from '../../../src/reasons/reason.ts'
import type { ContainerImage, Journal, JournalTarget, PodView, ReadJournal } from '../../../src/pods/glossary.ts'
import { testPod } from '../../../src/pods/testing/raw-pod.ts'
import type { Observation } from '../context.ts'
import type { PodPorts, StoreAnswer, StoreInput } from '../ports.ts'
import type { Schedule } from './schedule.ts'

/* The world of a pod upgrade: one pod, its kubelet, its entry in one load balancer and its ledger entry. */

export const V1 = 'registry/app:v1'
export const V2 = 'registry/app:v2'
/** An image that cannot be pulled, so that its container never starts. */
export const BAD = 'registry/app:bad'
export const WANTED: ContainerImage[] = [{ container: 'app', image: V2 }]
export const TARGET: JournalTarget = { loadBalancer: 'edge', target: 'web-0', scope: 'pool', prior: 'ready', untouched: false }

/** A call that changed the load balancer. */
export interface Effective {
  effect: 'drain' | 'restore'
  attempt: number
  /** The durable intents until then, the newest last. */
  intents: Intent[]
}

/** A drain or restore intent, or the ledger entry of a gone pod. */
export interface Intent {
  kind: 'drain' | 'restore'
  /** Whether the pod was Ready, with a container on the image of its spec, at the owner's observation for this intent. */
  serves: boolean
}

export type Fault = 'request-lost' | 'reply-lost' | 'late' | 'delayed' | undefined

export interface World {
  readonly schedule: Schedule
  readonly effects: Effective[]
  /** The violations of the rules. Each one is a failure. */
  readonly violations: string[]
  /** The images that were patched in, in order. */
  readonly patches: string[]
  /** The number of open records that were taken over. */
  claims: number
  /** The number of records that were written anew, so that a patch of images cannot land any more. */
  fences: number
  /** The number of calls that changed nothing. */
  redundant: number
  lb: 'in' | 'out'
  inFlight: number
  ledger: string
  pod: PodView | undefined
  stored: ReadJournal
  observation(): Observation
  /** Called after each change, as a watch would. */
  onChange: () => void
  /** The ports of one owner. Answers reach the owner only while it lives; requests arrive in any case. */
  ports(isAlive: () => boolean): PodPorts
  /** Decides on the fault of the call with this number. */
  fault: (call: number, port: keyof PodPorts) => Fault
  calls: { port: keyof PodPorts; at: number }[]
  /** Kills the container. The kubelet starts it again from the spec that it knows then. */
  crash(): void
  /** Deletes the pod. Another pod comes at its address, and is ready later. */
  replace(): void
  readonly heir: PodView | undefined
}

interface Running {
  spec: string
  generation: number
  observed: number
  id: string
  from: string
  running: boolean
  ready: boolean
}

/** The delay of a late request, in milliseconds. Another owner has begun long before it arrives. */
const LATE_MS = 900
/** The delay of a delayed request, in milliseconds. Its owner has just given it up when it arrives. */
const DELAYED_MS = 45

export function createWorld(schedule: Schedule): World {
  let version = 1
  let running: Running = { spec: V1, generation: 1, observed: 1, id: 'c1', from: V1, running: true, ready: true }
  let containers = 1
  let heir: PodView | undefined
  const intents: Intent[] = []
  const origins = new Map([['c1', V1]])

  function view(): PodView {
    const { spec, generation, observed, id, from, running: runs, ready } = running
    return testPod({
      resourceVersion: String(version),
      generation,
      observedGeneration: observed,
      ip: '10.0.0.1',
      ready,
      graceSeconds: 1,
      containers: [{ name: 'app', image: spec, status: { id, imageId: `sha256:${from}`, image: from, running: runs, ready } }],
    })
  }

  function set(change: Partial<Running>): void {
    if (!world.pod) return
    running = { ...running, ...change }
    origins.set(running.id, running.from)
    version += 1
    world.pod = view()
    world.onChange()
  }

  /** The kubelet: it reports the spec as seen, kills the container, starts the new one, and reports it as ready. */
  function reconcile(): void {
    const { spec, generation } = running
    schedule.at(20, () => set({ observed: generation }))
    schedule.at(40, () => set({ running: false, ready: false }))
    if (spec === BAD) return
    schedule.at(80, () => set({ id: `c${(containers += 1)}`, from: spec, running: true }))
    schedule.at(120, () => set({ ready: true }))
  }

  function store({ pod: seen, stored: seenJournal, record, wanted, restates }: StoreInput): StoreAnswer {
    if (!world.pod) return { kind: 'rejected', reason: { code: 'error', said: 'no such pod' } }
    const isSame = JSON.stringify(seenJournal) === JSON.stringify(world.stored)
    if (!isSame) return { kind: 'rejected', reason: { code: 'error', said: 'the journal has changed' } }
    if (record.step !== 'closed' && !restates && seen.containers[0]!.containerId !== running.id) {
      return { kind: 'rejected', reason: { code: 'error', said: 'the container has changed' } }
    }
    const before = world.stored.kind === 'read' ? world.stored.journal : undefined
    if (before && (record.epoch < before.epoch || record.attempt < before.attempt))
      world.violations.push('epoch or attempt went back')
    if (restates) {
      if (before && (before.step !== record.step || before.attempt !== record.attempt))
        world.violations.push('a restated record is another')
      if (record.fence === before?.fence) world.claims += 1
      else world.fences += 1
    } else if (record.step === 'patched') {
      if (seen.generation !== running.generation)
        return { kind: 'rejected', reason: { code: 'error', said: 'the spec has changed' } }
      if (world.lb !== 'out' || world.inFlight > 0) world.violations.push('patched while it took requests')
      const image = wanted[0]!.image
      const changes = image !== running.spec
      running = { ...running, spec: image, generation: running.generation + (changes ? 1 : 0) }
      if (changes) reconcile()
      world.patches.push(image)
    } else if (record.step !== 'closed') {
      const { containerId, image } = seen.containers[0]!
      intents.push({ kind: record.step, serves: seen.ready && origins.get(containerId!) === image })
    }
    const targets = record.step === 'closed' ? [] : record.targets
    world.stored = { kind: 'read', journal: structuredClone({ ...record, targets }) }
    set({})
    return { kind: 'stored', seen: world.observation() }
  }

  function effect(kind: 'drain' | 'restore', record: Journal): void {
    const to = kind === 'drain' ? 'out' : 'in'
    if (world.lb === to) world.redundant += 1
    if (world.lb === to || record.targets.every(({ untouched }) => untouched)) return
    world.lb = to
    world.effects.push({ effect: kind, attempt: record.attempt, intents: [...intents] })
    if (kind === 'drain') {
      world.inFlight = 2
      schedule.at(60, () => (world.inFlight = 0))
    }
  }

  const world: World = {
    schedule,
    effects: [],
    patches: [],
    claims: 0,
    fences: 0,
    violations: [],
    redundant: 0,
    lb: 'in',
    inFlight: 0,
    ledger: 'open',
    pod: view(),
    stored: { kind: 'none' },
    observation: () => ({ pod: world.pod!, stored: world.stored }),
    onChange() {},
    fault: () => undefined,
    calls: [],
    get heir() {
      return heir
    },
    crash() {
      set({ running: false, ready: false })
      schedule.at(8, () => {
        if (running.running) return
        const from = running.observed >= running.generation ? running.spec : running.from
        set({ id: `c${(containers += 1)}`, from, running: true })
        schedule.at(8, () => running.running && set({ ready: true }))
      })
    },
    replace() {
      world.pod = undefined
      world.stored = { kind: 'none' }
      world.onChange()
      for (const [delayMs, ready] of [
        [30, false],
        [60, true],
      ] as const) {
        schedule.at(delayMs, () => {
          heir = testPod({ uid: 'uid-heir', ip: '10.0.0.1', ready })
          world.onChange()
        })
      }
    },
    ports(isAlive) {
      /** A call: the request arrives after a while, and so does its answer. */
      function call<Answer extends { kind: string }>(
        port: keyof PodPorts,
        arrive: () => Answer,
      ): Promise<Answer | { kind: 'unknown'; reason: ReasonOf<'error'> }> {
        const fault = world.fault(world.calls.length, port)
        world.calls.push({ port, at: schedule.now() })
        return new Promise((resolve) => {
          const answer = (value: Answer | { kind: 'unknown'; reason: ReasonOf<'error'> }, delayMs: number): void =>
            void schedule.at(delayMs, () => isAlive() && resolve(value))
          const lost = { kind: 'unknown', reason: { code: 'error', said: `${port}: no answer` } } as const
          if (fault === 'request-lost') return answer(lost, 30)
          if (fault === 'late' || fault === 'delayed') {
            schedule.at(fault === 'late' ? LATE_MS : DELAYED_MS, arrive)
            return answer(lost, 30)
          }
          schedule.at(5, () => {
            const value = arrive()
            answer(fault === 'reply-lost' ? lost : value, 5)
          })
        })
      }
      return {
        snapshot: () => call('snapshot', () => ({ kind: 'taken', targets: [TARGET], address: '10.0.0.1' })),
        rehearse: () => call('rehearse', () => ({ kind: 'accepted' })),
        enroll: () => call('enroll', () => ({ kind: 'stored' })),
        store: (input) => call('store', () => store(input)),
        read: () =>
          call('read', () => (world.pod ? { kind: 'read' as const, seen: world.observation() } : { kind: 'gone' as const })),
        pulls: () => call('pulls', () => ({ kind: 'read', pulls: [] })),
        effect: ({ effect: kind, record }) =>
          call('effect', () => {
            effect(kind, record)
            return { kind: 'applied' }
          }),
        async inspect() {
          const reading = await call('inspect', () => ({ kind: 'read', state: world.lb, inFlight: world.inFlight }))
          return 'state' in reading
            ? { state: reading.state, inFlight: reading.inFlight, detail: { code: 'error', said: reading.state } as const }
            : { state: 'unknown', inFlight: null, detail: { code: 'error', said: reading.kind } as const }
        },
        compare: () =>
          call('compare', () =>
            world.lb === 'in'
              ? { kind: 'equal' as const }
              : { kind: 'different' as const, reason: { code: 'error', said: 'out' } },
          ),
        relocate: () => call('relocate', () => ({ kind: 'same', address: '10.0.0.1' })),
        settle: ({ settlement }) =>
          call('settle', () => {
            world.ledger = settlement
            if (settlement === 'restore') intents.push({ kind: 'restore', serves: heir?.ready === true })
            return { kind: 'stored' }
          }),
      }
    },
  }
  return world
}
