import type { RunRequest } from '../../src/engine/request.ts'
import type { Happening } from './checker/history.ts'
import type { Host } from './host.ts'
import type { SeededRandom } from './random.ts'
import type { Scene } from './scene.ts'
import type { Scheduler } from './scheduler.ts'
import type { ProcessEnd, SluiceProcess } from './sluice-process.ts'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'

/** After so many ends once nothing goes wrong any more, the run is taken never to come to an end. */
const MOST_TRIES_IN_CALM = 6
/** Where the command ends as it did before, the time until the next one grows by this: a pipeline that waits, a person who looks. */
const MORE_PATIENCE = 3
const MOST_PATIENCE = 9

/** Said twice the same, these say it for good. */
const LAST_WORDS = new Set<ProcessEnd['outcome']>(['needsOperator', 'refused', 'unreachable'])

/** What a release pipeline does: runs the command, and runs it again after a crash or where the exit code says to. */
export interface Supervisor {
  begin(): void
  /*
   * What befalls the process that has been there longest, the one that acts; each answers whether there was one.
   */
  /** Killed; the command is started again after so many milliseconds, where nobody else is at it. */
  crash(againAfterMs: number): boolean
  /** Stopped and continued. */
  stopFor(ms: number): boolean
  /** Stopped; another is started, and it goes on later. */
  takeOver(continueAfterMs: number): boolean
  /** A second one is started. */
  rival(): boolean
  interrupt(): boolean
  calm(): void
  /** No process runs, and none will be started any more. */
  isDone(): boolean
  /** The last that ended by itself. */
  lastEnd(): ProcessEnd | undefined
  readonly ends: string[]
  readonly upgrades: number
}

export interface SupervisorOptions {
  scene: Scene
  scheduler: Scheduler
  random: SeededRandom
  start(request: RunRequest, onEnd: (end: ProcessEnd) => void): SluiceProcess
  tell(happening: Happening): void
}

export function createSupervisor({ scene, scheduler, random, start, tell }: SupervisorOptions): Supervisor {
  const running = new Set<SluiceProcess>()
  const ends: string[] = []
  let tag: string = scene.image
  let isCalm = false
  let done = false
  let triesInCalm = 0
  let last: ProcessEnd | undefined
  /** By how much the next start is put off, beside what chance says. */
  let patience = 1
  let upgrades = 0
  let pending: ReturnType<Scheduler['after']> | undefined

  function request(): RunRequest {
    const kind = scene.workload
    const refs = kind === 'Pod' ? Array.from({ length: scene.pods }, (_, place) => `${NAME}-${place}`) : [NAME]
    return {
      namespace: NAMESPACE,
      select: { refs: refs.map((name) => ({ kind, name })) },
      images: [{ container: 'app', image: imageOf(tag) }],
      settings: scene.settings,
      acceptTemplateDrift: kind === 'Deployment',
      allowUnbalanced: false,
    }
  }

  function launch(): SluiceProcess {
    const process = start(request(), (end) => ended(process, end))
    running.add(process)
    return process
  }

  function launchAfter(ms: number): void {
    if (pending !== undefined) scheduler.cancel(pending)
    pending = scheduler.after(ms, () => {
      pending = undefined
      launch()
    })
  }

  function ended(process: SluiceProcess, end: ProcessEnd): void {
    running.delete(process)
    const { outcome, reason, pods } = end
    tell({
      type: 'process',
      process: process.host.name,
      what: 'exited',
      outcome: `${outcome}: ${reason}`,
      pods: pods.map((pod) => ({ uid: pod.uid, outcome: pod.outcome, reason: pod.reason })),
    })
    ends.push(outcome)
    upgrades += pods.filter((pod) => pod.outcome === 'upgraded').length
    const before = last
    last = end
    // Another is at it, or is about to be: what comes of the run is its matter.
    if (running.size > 0 || pending !== undefined) return
    if (isCalm) triesInCalm += 1
    if (outcome === 'done' || triesInCalm >= MOST_TRIES_IN_CALM) {
      done = true
      return
    }
    // A person looks at it; the same once more in calm is the last word.
    const isSame = before?.outcome === outcome && before.reason === reason
    if (LAST_WORDS.has(outcome) && triesInCalm > 1 && isSame) {
      done = true
      return
    }
    // The image was a bad one: the release is mended, and released anew.
    if (outcome === 'failed') tag = 'v3'
    patience = isSame ? Math.min(patience * MORE_PATIENCE, MOST_PATIENCE) : 1
    launchAfter(random.between(200, outcome === 'conflict' ? 20_000 : 5_000) * patience)
  }

  function befall(what: (process: SluiceProcess) => void): boolean {
    const oldest = running.values().next().value
    if (oldest !== undefined) what(oldest)
    return oldest !== undefined
  }

  function kill({ host }: SluiceProcess): void {
    host.kill()
    tell({ type: 'process', process: host.name, what: 'crashed' })
  }

  function stop({ host }: SluiceProcess, ms: number): void {
    host.stop()
    tell({ type: 'process', process: host.name, what: 'paused' })
    scheduler.after(ms, () => goOn(host))
  }

  function goOn(host: Host): void {
    if (!host.isAlive()) return
    host.continue()
    tell({ type: 'process', process: host.name, what: 'continued' })
  }

  return {
    ends,
    get upgrades() {
      return upgrades
    },
    begin: () => void launch(),
    crash: (againAfterMs) =>
      befall((process) => {
        running.delete(process)
        kill(process)
        if (running.size === 0) launchAfter(againAfterMs)
      }),
    stopFor: (ms) => befall((process) => stop(process, ms)),
    takeOver: (continueAfterMs) =>
      befall((process) => {
        stop(process, continueAfterMs)
        launchAfter(random.between(0, 500))
      }),
    rival: () => befall(launch),
    interrupt: () => befall((process) => process.interrupt()),
    calm() {
      isCalm = true
      patience = 1
    },
    isDone: () => done && running.size === 0 && pending === undefined,
    lastEnd: () => last,
  }
}
