import type { Clock } from '../../src/ports/clock.ts'
import type { Random } from '../../src/ports/random.ts'
import type { NodeFact } from '../facts.ts'
import type { ContainerHost } from './container-host.ts'
import { type Delays, draw } from './delays.ts'
import type { Images } from './images.ts'
import type { ContainerSpec, Pod } from './pod.ts'

/** A container as the runtime knows it. It is never changed in place: a reader keeps the state that it has read. */
export interface RuntimeContainer {
  readonly id: string
  readonly name: string
  /** The image in the spec. A container whose spec has another image is replaced. */
  readonly image: string
  readonly shownImage: string
  readonly imageId: string
  readonly attempt: number
  readonly startedAt: string
  readonly startedAtMs: number
  readonly exit?: { code: number; at: string; atMs: number }
}

export interface Sandbox {
  readonly address: string
  readonly ready: boolean
}

/** The state of one pod at a look at the runtime. It is never changed in place. */
export interface RuntimePod {
  readonly sandbox?: Sandbox
  /** The newest containers first, with at most two of each name. */
  readonly containers: readonly RuntimeContainer[]
}

/** The containers and sandboxes of one node. They do not depend on the life of the kubelet. */
export interface Runtime {
  look(uid: string): RuntimePod
  startSandbox(pod: Pod, done: () => void): void
  startContainer(pod: Pod, container: ContainerSpec, attempt: number, done: () => void): void
  /** Sends SIGTERM, and SIGKILL after the grace period. */
  stopContainer(uid: string, id: string, graceMs: number, done: () => void): void
  /** Stops the sandbox and the containers in it. */
  stopSandbox(uid: string): void
  /** Ends the sandbox as if it died by itself. The containers run on until they are stopped. */
  killSandbox(uid: string): void
  /** Ends a container as if it died by itself. Returns false where no container of the name runs. */
  crash(uid: string, name: string, code: number): boolean
  /** Answers a readiness probe. The container that listens now answers: a probe does not name an ID. */
  answers(uid: string, name: string): boolean
  /** Makes a container fail its probe for `ms` milliseconds. The container is otherwise unaffected. */
  unready(uid: string, name: string, ms: number): void
  forget(uid: string): void
}

export interface RuntimeOptions {
  clock: Clock
  random: Random
  delays: Delays
  images: Images
  host: ContainerHost
  instant: () => string
  nodeAddress: string
  newAddress: (pod: Pod) => string
  freeAddress: (address: string) => void
  newId: () => string
  onFact: (fact: NodeFact) => void
  /** Tells that a container or sandbox has started or ended. */
  onChange: (uid: string) => void
  /** Tells that the result of a probe of a container has changed. */
  onAnswer: (uid: string, name: string) => void
}

const NOTHING: RuntimePod = { containers: [] }

interface Life {
  uid: string
  container: string
  serving: boolean
  stopping: boolean
}

export function createRuntime(options: RuntimeOptions): Runtime {
  const { clock, random, delays, images, host, onFact, onChange, onAnswer } = options
  const pods = new Map<string, RuntimePod>()
  const lives = new Map<string, Life>()
  const failing = new Map<string, number>()
  /** The address that each pod has to give back. It is given back only once, since another pod may have it afterwards. */
  const addresses = new Map<string, string>()

  const look = (uid: string): RuntimePod => pods.get(uid) ?? NOTHING
  const after = (range: readonly [number, number], run: () => void): void => {
    clock.setTimeout(run, draw(random, range))
  }

  function change(uid: string, pod: RuntimePod): void {
    pods.set(uid, pod)
    onChange(uid)
  }

  function start(pod: Pod, container: ContainerSpec, attempt: number): void {
    const { uid } = pod.metadata
    const image = images.get(container.image)
    const now = look(uid)
    if (image === undefined || now.sandbox === undefined) return
    const id = options.newId()
    const started: RuntimeContainer = {
      id,
      name: container.name,
      image: container.image,
      shownImage: images.shownName(container.image),
      imageId: image.digest,
      attempt,
      startedAt: options.instant(),
      startedAtMs: clock.now(),
    }
    const before = now.containers.find(({ name }) => name === container.name)
    const others = now.containers.filter((one) => one.name !== container.name || one === before)
    lives.set(id, { uid, container: container.name, serving: false, stopping: false })
    change(uid, { ...now, containers: [started, ...others] })
    const { address } = now.sandbox
    onFact({
      type: 'containerStarted',
      uid,
      container: container.name,
      id,
      image: container.image,
      imageId: image.digest,
      address,
    })
    host.start(
      { id, pod, spec: container, address },
      { answers: (rightly) => answered(id, rightly), exited: (code) => exit(id, code) },
    )
  }

  function answered(id: string, rightly: boolean): void {
    const life = lives.get(id)
    if (life === undefined || life.stopping || life.serving === rightly) return
    life.serving = rightly
    if (rightly) onFact({ type: 'containerServing', uid: life.uid, container: life.container, id })
    onAnswer(life.uid, life.container)
  }

  function exit(id: string, code: number): void {
    const life = lives.get(id)
    if (life === undefined) return
    lives.delete(id)
    const { uid, container } = life
    onFact({ type: 'containerExited', uid, container, id, code })
    const now = look(uid)
    const ended = { code, at: options.instant(), atMs: clock.now() }
    change(uid, { ...now, containers: now.containers.map((one) => (one.id === id ? { ...one, exit: ended } : one)) })
    onAnswer(uid, container)
  }

  function sandboxDied(uid: string): void {
    const now = look(uid)
    if (!now.sandbox?.ready) return
    onFact({ type: 'sandboxDied', uid, address: now.sandbox.address })
    change(uid, { ...now, sandbox: { ...now.sandbox, ready: false } })
  }

  return {
    look,
    startSandbox(pod, done) {
      const { uid } = pod.metadata
      after(delays.sandbox, () => {
        const isOwn = pod.spec.hostNetwork !== true
        const address = isOwn ? options.newAddress(pod) : options.nodeAddress
        if (isOwn) addresses.set(uid, address)
        onFact({ type: 'sandboxStarted', uid, address })
        change(uid, { ...look(uid), sandbox: { address, ready: true } })
        done()
      })
    },
    startContainer(pod, container, attempt, done) {
      after(delays.start, () => {
        start(pod, container, attempt)
        done()
      })
    },
    stopContainer(uid, id, graceMs, done) {
      const life = lives.get(id)
      if (life === undefined) {
        after(delays.stop, done)
        return
      }
      if (!life.stopping) {
        life.stopping = true
        onFact({ type: 'containerStopping', uid, container: life.container, id })
      }
      host.stop(id, graceMs, done)
    },
    stopSandbox(uid) {
      const address = addresses.get(uid)
      sandboxDied(uid)
      if (address !== undefined) options.freeAddress(address)
      addresses.delete(uid)
    },
    killSandbox: sandboxDied,
    crash(uid, name, code) {
      const running = look(uid).containers.find((one) => one.name === name && one.exit === undefined)
      if (running === undefined) return false
      host.kill(running.id, code)
      return true
    },
    answers(uid, name) {
      const running = look(uid).containers.find((one) => one.name === name && one.exit === undefined)
      const life = running && lives.get(running.id)
      return life !== undefined && life.serving && (failing.get(`${uid} ${name}`) ?? 0) <= clock.now()
    },
    unready(uid, name, ms) {
      failing.set(`${uid} ${name}`, clock.now() + ms)
      onAnswer(uid, name)
      clock.setTimeout(() => onAnswer(uid, name), ms)
    },
    forget(uid) {
      for (const { id } of look(uid).containers) lives.delete(id)
      pods.delete(uid)
    },
  }
}
