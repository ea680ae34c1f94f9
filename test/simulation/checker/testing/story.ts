import type { Happening, HistoryEntry, Level, Scenario, TargetState } from '../history.ts'
import type { Step } from '../journal.ts'

/** The steps of one pod's upgrade, in order. */
export const STEPS = [
  'drainIntent',
  'drain',
  'patch',
  'notReady',
  'stop',
  'start',
  'serve',
  'ready',
  'restoreIntent',
  'restore',
  'close',
] as const
export type StepName = (typeof STEPS)[number]

export interface StoryOptions {
  level?: Level
  pods?: number
  maxUnavailable?: number
  scenario?: Partial<Scenario>
  /** The places of pods that an operator has in maintenance. */
  maintained?: readonly number[]
}

type EffectEntry = Extract<Happening, { type: 'effect' }>

/** Writes a history by hand. The story does what it is told, without a cluster behind it. */
export interface Story {
  readonly history: HistoryEntry[]
  readonly scenario: Scenario
  /** Starts the process that acts from now on, with the Lease. With `part`, it is about the pods at these places only. */
  process(name: string, wanted?: string, part?: readonly number[]): void
  /** Takes one step of the pod at this place. */
  step(place: number, name: StepName): void
  /** Takes all steps, without the ones in `without`. A function in `before` runs before its step. */
  upgrade(place: number, but?: { without?: readonly StepName[]; before?: Partial<Record<StepName, () => void>> }): void
  journal(place: number, step: Step, over?: Record<string, unknown>, by?: string): void
  effect(place: number, effect: 'drain' | 'restore', over?: Partial<EffectEntry>): void
  /** Changes the target as an operator or a reload does. */
  change(place: number, by: 'operator' | 'reload', to: Partial<TargetState>): void
  pod(place: number, change: (raw: RawPod) => void, by?: string): void
  /** Removes the pod. With `force`, its container runs on. */
  remove(place: number, how?: { force: boolean }): void
  /** Adds a pod of the same controller at the address of this pod, ready by default. */
  replace(place: number, over?: { owner?: string; ready?: boolean }): number
  /** Sets the replicas and the image in the template of the controller. */
  workload(replicas: number, template: string): void
  ledger(
    place: number,
    state: string,
    over?: {
      finished?: boolean
      by?: string
      run?: string
      undoes?: string
      aborted?: boolean
      /** The image that the template had before. */
      before?: string
      /** The epoch of an owner that has found no open journal on the pod. The Lease is `lease`, or else `LEASE`. */
      voidBelow?: number
      lease?: string
      /** True where nothing is drained for the pod. */
      idle?: true
    },
  ): void
  lease(transitions: number, holder?: string, name?: string): void
  /** Deletes the Lease of the workload by hand. */
  deleteLease(): void
  /** Clears the holder of the workload's Lease by hand. */
  clearLease(): void
  /** Writes the Lease of the acting process with an order by `by` to pause its run. */
  pause(by: string): void
  tell(happening: Happening): void
  pass(ms: number): void
  /** Ends the faults and then the process, with its statements about its pods. */
  end(outcomes?: Record<number, { outcome: string; reason: string; leftOut?: true }>, outcome?: string): HistoryEntry[]
}

export interface RawPod {
  metadata: {
    uid: string
    name: string
    namespace: string
    annotations: Record<string, string>
    deletionTimestamp?: string
    generation?: number
    ownerReferences: { kind: string; name: string; controller: boolean }[]
  }
  spec: { containers: { name: string; image: string; readinessProbe: object }[] }
  status: {
    phase?: string
    podIP: string
    observedGeneration?: number
    conditions: { type: string; status: string; message?: string }[]
    containerStatuses: { name: string; containerID: string; ready: boolean }[]
  }
}

const KEY = 'sluice.dev/journal'
const PRIOR = { weight: 5 }
/** The uid of the workload's Lease. */
const LEASE = 'lease-1'

export function createStory({ level = 'G1', pods = 1, maxUnavailable = 1, scenario, maintained = [] }: StoryOptions = {}): Story {
  const history: HistoryEntry[] = []
  const raws: RawPod[] = []
  const containers: string[] = []
  const targets: TargetState[] = []
  /** The number of finished upgrades of the pod at each place. */
  const upgrades: number[] = []
  let at = 1_000
  let started = 0
  let actor = ''
  let asked = ''
  let epoch = 0

  function tell(happening: Happening): void {
    at += 100
    history.push({ at, ...happening })
  }
  const nameOf = (place: number): string => `web-${place % pods}`

  function create(place: number, over: { owner?: string; ready?: boolean } = {}): void {
    const raw: RawPod = {
      metadata: {
        uid: `uid-${place}`,
        name: nameOf(place),
        namespace: 'default',
        annotations: {},
        ownerReferences: [{ kind: 'StatefulSet', name: over.owner ?? 'web', controller: true }],
      },
      spec: { containers: [{ name: 'app', image: 'app:v1', readinessProbe: {} }] },
      status: {
        podIP: `10.0.0.${(place % pods) + 1}`,
        conditions: [{ type: 'Ready', status: over.ready === false ? 'False' : 'True' }],
        containerStatuses: [{ name: 'app', containerID: `c${started + 1}`, ready: over.ready !== false }],
      },
    }
    raws[place] = raw
    tell({ type: 'stored', by: 'statefulset', resource: 'pods', verb: 'create', before: undefined, after: structuredClone(raw) })
    run(place, 'app:v1')
    serve(place)
  }

  function container(place: number, what: 'started' | 'serving' | 'stopping' | 'exited', image: string): void {
    const { uid } = raws[place]!.metadata
    const address = raws[place]!.status.podIP
    tell({ type: 'container', what, uid, container: 'app', id: containers[place]!, image, address })
  }
  function run(place: number, image: string): void {
    containers[place] = `c${(started += 1)}`
    container(place, 'started', image)
  }
  const serve = (place: number): void => container(place, 'serving', imageOf(place))
  const imageOf = (place: number): string => raws[place]!.spec.containers[0]!.image

  function pod(place: number, change: (raw: RawPod) => void, by = actor): void {
    const before = structuredClone(raws[place]!)
    change(raws[place]!)
    tell({ type: 'stored', by, resource: 'pods', verb: 'update', before, after: structuredClone(raws[place]!) })
  }
  function setReady(place: number, ready: boolean): void {
    function change({ status }: RawPod): void {
      status.conditions.find(({ type }) => type === 'Ready')!.status = ready ? 'True' : 'False'
      status.containerStatuses = [{ name: 'app', containerID: containers[place]!, ready }]
    }
    pod(place, change, 'kubelet')
  }

  function record(place: number, step: Step, over: Record<string, unknown> = {}): string {
    const isOut = maintained.includes(place)
    const prior = { admin: isOut ? 'maint' : 'ready', ...PRIOR }
    const lbs = [['edge', `${nameOf(place)}@10.0.0.${(place % pods) + 1}:80`, 'edge', prior, isOut ? 1 : 0]]
    return JSON.stringify({
      v: 1,
      run: actor,
      epoch,
      ...(step === 'drain' ? { lease: LEASE } : {}),
      attempt: 1 + (upgrades[place] ?? 0),
      step,
      ...(step === 'closed' ? {} : { base: [], lbs }),
      ...over,
    })
  }

  /** The steps drain and closed are written to the condition, the other steps to the annotation. */
  function write(raw: RawPod, step: Step, text: string): void {
    if (step === 'patched' || step === 'restore') {
      raw.metadata.annotations[KEY] = text
      return
    }
    delete raw.metadata.annotations[KEY]
    raw.status.conditions = [
      ...raw.status.conditions.filter(({ type }) => type !== KEY),
      { type: KEY, status: 'True', message: text },
    ]
  }

  const story: Story = {
    history,
    scenario: {
      seed: 1,
      levels: { edge: level },
      namespace: 'default',
      maxUnavailable,
      wanted: { app: 'app:v2' },
      ...scenario,
    },
    process(name, wanted = 'app:v2', part = undefined) {
      actor = name
      asked = wanted
      const about = part === undefined ? {} : { part: part.map(nameOf) }
      tell({ type: 'process', process: name, what: 'started', wanted: wanted === '' ? {} : { app: wanted }, ...about })
      story.lease((epoch += 1))
    },
    lease(transitions, holder = `${actor}_a1b2c3`, name = 'sluice-statefulset-web') {
      const spec = { holderIdentity: holder, leaseTransitions: transitions }
      const after = { metadata: { name, namespace: 'default' }, spec }
      tell({ type: 'stored', by: actor, resource: 'leases.coordination.k8s.io', verb: 'update', before: undefined, after })
    },
    deleteLease() {
      const before = { metadata: { name: 'sluice-statefulset-web', namespace: 'default' } }
      tell({ type: 'stored', by: 'person', resource: 'leases.coordination.k8s.io', verb: 'delete', before, after: undefined })
    },
    clearLease() {
      const spec = { holderIdentity: '', leaseTransitions: epoch }
      const after = { metadata: { name: 'sluice-statefulset-web', namespace: 'default' }, spec }
      tell({ type: 'stored', by: 'person', resource: 'leases.coordination.k8s.io', verb: 'update', before: undefined, after })
    },
    pause(by) {
      const annotations = { 'sluice.dev/order': JSON.stringify({ v: 1, order: 'pause', runs: [actor], by: 'person' }) }
      const spec = { holderIdentity: `${actor}_a1b2c3`, leaseTransitions: epoch }
      const after = { metadata: { name: 'sluice-statefulset-web', namespace: 'default', annotations }, spec }
      tell({ type: 'stored', by, resource: 'leases.coordination.k8s.io', verb: 'update', before: undefined, after })
    },
    step(place, name) {
      const steps: Record<StepName, () => void> = {
        drainIntent: () => story.journal(place, 'drain'),
        drain: () => story.effect(place, 'drain'),
        patch: () =>
          pod(place, (raw) => {
            raw.spec.containers[0]!.image = asked
            write(raw, 'patched', record(place, 'patched', { gen: 2 }))
          }),
        notReady: () => setReady(place, false),
        stop() {
          container(place, 'stopping', 'app:v1')
          container(place, 'exited', 'app:v1')
        },
        start: () => run(place, imageOf(place)),
        serve: () => serve(place),
        ready: () => setReady(place, true),
        restoreIntent: () => story.journal(place, 'restore'),
        restore: () => story.effect(place, 'restore'),
        close: () => story.journal(place, 'closed'),
      }
      steps[name]()
    },
    upgrade(place, { without = [], before = {} } = {}) {
      if (raws[place]!.status.conditions.some(({ message }) => message?.includes('"step":"closed"'))) upgrades[place] = 1
      for (const name of STEPS) {
        before[name]?.()
        if (!without.includes(name)) story.step(place, name)
      }
    },
    journal: (place, step, over, by) => pod(place, (raw) => write(raw, step, record(place, step, over)), by),
    effect(place, effect, over = {}) {
      const before = targets[place % pods]!
      const accepted = over.accepted ?? true
      const to: TargetState =
        effect === 'drain'
          ? { ...before, admin: 'drain', routable: false, inFlight: 0, emptyAt: before.routable ? at + 100 : before.emptyAt }
          : { ...before, admin: 'ready', routable: true, emptyAt: null, ...PRIOR }
      const after = over.after ?? (accepted ? to : before)
      targets[place % pods] = after
      tell({
        type: 'effect',
        by: actor,
        balancer: 'edge',
        target: nameOf(place),
        effect,
        operation: `${effect} ${raws[place]!.metadata.uid}`,
        fence: epoch,
        leftAt: at + 90,
        accepted,
        before,
        ...over,
        after,
      })
    },
    change(place, by, to) {
      const before = targets[place % pods]!
      targets[place % pods] = { ...before, ...to }
      tell({ type: 'target', by, balancer: 'edge', target: nameOf(place), before, after: targets[place % pods]! })
    },
    pod,
    remove(place, { force } = { force: false }) {
      if (!force) container(place, 'exited', imageOf(place))
      tell({
        type: 'stored',
        by: 'kubelet',
        resource: 'pods',
        verb: 'delete',
        before: structuredClone(raws[place]!),
        after: undefined,
      })
    },
    replace(place, over) {
      create(place + pods, over)
      return place + pods
    },
    workload(replicas, template) {
      const spec = { replicas, template: { spec: { containers: [{ name: 'app', image: template }] } } }
      const after = { kind: 'StatefulSet', metadata: { name: 'web' }, spec }
      tell({ type: 'stored', by: 'operator', resource: 'statefulsets.apps', verb: 'update', before: undefined, after })
    },
    ledger(
      place,
      state,
      { finished = false, by = actor, run: id = 'r1', undoes, aborted, before, voidBelow, lease = LEASE, idle } = {},
    ) {
      const entry = {
        pod: nameOf(place),
        owner: { kind: 'StatefulSet', name: 'web' },
        targets: [{ loadBalancer: 'edge', target: `${nameOf(place)}@10.0.0.${(place % pods) + 1}:80`, untouched: false }],
        state,
        ...(voidBelow === undefined ? {} : { voidBelow: { lease, epoch: voidBelow } }),
        ...(idle ? { idle } : {}),
      }
      const header = JSON.stringify({ run: id, undoes, aborted, before, ...(finished ? { finishedAt: 'now' } : {}) })
      const after = {
        metadata: { name: `sluice-run-${id}` },
        data: { header, [raws[place]!.metadata.uid]: JSON.stringify(entry) },
      }
      tell({ type: 'stored', by, resource: 'configmaps', verb: 'update', before: undefined, after })
    },
    tell,
    pass: (ms) => void (at += ms),
    end(outcomes = {}, outcome = 'done: all is well') {
      if (!history.some(({ type }) => type === 'calm')) tell({ type: 'calm' })
      const told = raws.map(({ metadata }, place) => ({
        uid: metadata.uid,
        outcome: 'upgraded',
        reason: 'home',
        ...outcomes[place],
      }))
      tell({ type: 'process', process: actor, what: 'exited', outcome, pods: told })
      return history
    },
  }

  for (let place = 0; place < pods; place += 1) {
    create(place)
    const isOut = maintained.includes(place)
    targets[place] = {
      address: raws[place]!.status.podIP,
      routable: !isOut,
      inFlight: 0,
      emptyAt: isOut ? 0 : null,
      admin: isOut ? 'maint' : 'ready',
      ...PRIOR,
    }
    tell({ type: 'target', by: 'setup', balancer: 'edge', target: nameOf(place), before: null, after: targets[place]! })
  }
  // The story begins long after the setup.
  at += 100_000
  story.process('sluice-0')
  return story
}
