import { idNamed } from '../../src/workloads/kinds/testing/id-named.ts'
import type { RunRequest } from '../../src/engine/request.ts'
import type { Happening } from './checker/history.ts'
import type { Commands } from './commands.ts'
import type { Host } from './host.ts'
import type { SeededRandom } from './random.ts'
import type { PartScene, Scene } from './scene.ts'
import type { Scheduler } from './scheduler.ts'
import type { ProcessEnd, SluiceProcess } from './sluice-process.ts'
import { imageOf, NAME, NAMESPACE, proxyOf } from './manifests.ts'

/** The number of ends in calm after which a run is taken for endless. */
const MOST_TRIES_IN_CALM = 6
/**
 * The factor by which the delay of the next start grows where the command ends as before, as for a waiting pipeline or an operator that
 * looks.
 */
const MORE_PATIENCE = 3
const MOST_PATIENCE = 9
/** The delay of a repeated resume: a pause may arrive after it was lifted, and the operator that waits for the run looks again. */
const RESUME_AGAIN_MS = 20_000

/** The outcomes that are final when they are repeated unchanged. */
const LAST_WORDS = new Set<ProcessEnd['outcome']>(['needsOperator', 'refused', 'unreachable'])

/** The outcomes that suggest a bad image. */
const GONE_WRONG = new Set<ProcessEnd['outcome']>(['failed', 'rolledBack'])

/** Some pods of the workload. */
export interface Part {
  pods: string[]
  select: RunRequest['select']
}

/** A release pipeline: runs the command, and runs it again after a crash or where the exit code says so. */
export interface Supervisor {
  begin(): void
  /* The incidents of the process that has run longest, which is the one that acts. Each returns whether there was such a process. */
  /** Kills the process. The command is started again after `againAfterMs`, unless another process runs. */
  crash(againAfterMs: number): boolean
  /** Stops the process, and continues it after `ms`. */
  stopFor(ms: number): boolean
  /** Stops the process and starts another one. The first process continues later. */
  takeOver(continueAfterMs: number): boolean
  /** Starts a second process. */
  rival(): boolean
  interrupt(): boolean
  /** Aborts the run: by a command that waits for it, or by the handle of the process. */
  abort(how: 'command' | 'handle'): boolean
  /** Pauses the run, and resumes it after `ms`. */
  pauseFor(ms: number, how: 'command' | 'handle'): boolean
  /** Makes later commands ask for another image. */
  wantOthers(): boolean
  /** Makes the next command concern these pods only. The command for all pods follows after its end. */
  wantPart(part: Part, as: Pick<PartScene, 'how' | 'isFirst' | 'forMs'>): void
  calm(): void
  /** Reports whether no process runs, and none will be started. */
  isDone(): boolean
  /** Returns the end of the last process that ended by itself. */
  lastEnd(): ProcessEnd | undefined
  readonly ends: string[]
  readonly upgrades: number
}

export interface SupervisorOptions {
  scene: Scene
  scheduler: Scheduler
  random: SeededRandom
  commands: Commands
  hit(fault: string, detail: string): void
  tell(happening: Happening): void
}

/** Returns the selection of every command of the scene, except commands about a part. */
export function selectionIn({ workload: kind, pods }: Scene): RunRequest['select'] {
  const names = kind === 'Pod' ? Array.from({ length: pods }, (_, place) => `${NAME}-${place}`) : [NAME]
  return { refs: names.map((name) => idNamed(kind, name)) }
}

export function createSupervisor({ scene, scheduler, random, commands, hit, tell }: SupervisorOptions): Supervisor {
  const running = new Set<SluiceProcess>()
  const aborts = new Set<SluiceProcess>()
  const ends: string[] = []
  let tag: string = scene.image
  let isTakingBack = false
  let isAborted = false
  let isCalm = false
  let done = false
  let triesInCalm = 0
  let last: ProcessEnd | undefined
  /** The factor of the delay before the next start, beside the random part. */
  let patience = 1
  let upgrades = 0
  /** The part that the next command is about. */
  let part: Part | undefined
  let isPausing = false
  let isResolving = false
  let pending: ReturnType<Scheduler['after']> | undefined

  function request(select: RunRequest['select'] = selectionIn(scene)): RunRequest {
    return {
      namespace: NAMESPACE,
      select,
      ...(isTakingBack ? { images: [], undo: {} } : { images: imagesOf(tag) }),
      settings: scene.settings,
      acceptTemplateDrift: scene.workload === 'Deployment',
      allowUnbalanced: false,
    }
  }

  function imagesOf(wanted: string): RunRequest['images'] {
    const app = { container: 'app', image: imageOf(wanted) }
    if (scene.changes === undefined) return [app]
    const proxy = { container: 'proxy', image: proxyOf(wanted) }
    return scene.changes === 'proxy' && wanted === scene.image ? [proxy] : [app, proxy]
  }

  function launch(command: 'upgrade' | 'abort' = 'upgrade'): SluiceProcess {
    // An undo and its end concern the whole run.
    const own = command === 'upgrade' && !isTakingBack ? part : undefined
    if (own !== undefined) hit('part', own.pods.join(', '))
    const process = commands.start({ command, request: request(own?.select), part: own?.pods }, (end) => {
      if (own !== undefined) part = undefined
      ended(process, end, own !== undefined)
    })
    running.add(process)
    if (command === 'abort') aborts.add(process)
    return process
  }

  function launchAfter(ms: number): void {
    if (pending !== undefined) scheduler.cancel(pending)
    pending = scheduler.after(ms, () => {
      pending = undefined
      launch()
    })
  }

  function ended(process: SluiceProcess, end: ProcessEnd, isOfPart: boolean): void {
    running.delete(process)
    const { outcome, reason, pods } = end
    tell({
      type: 'process',
      process: process.host.name,
      what: 'exited',
      outcome: `${outcome}: ${reason}`,
      pods: pods.map((pod) => ({
        uid: pod.uid,
        outcome: pod.outcome,
        reason: pod.reason,
        ...(pod.leftOut ? { leftOut: pod.leftOut } : {}),
      })),
    })
    ends.push(outcome)
    upgrades += pods.filter((pod) => pod.outcome === 'upgraded').length
    const before = last
    last = end
    isAborted ||= outcome === 'aborted' && !isOfPart
    // Another process runs or is about to, and handles the run.
    if (running.size > 0 || pending !== undefined) return
    if (isCalm && !isOfPart) triesInCalm += 1
    // An upgrade that could not look at the cluster does not show whether work was begun since the abort.
    const hasLooked = aborts.has(process) || (outcome !== 'unreachable' && outcome !== 'refused')
    const isAllDone = outcome === 'done' && !isOfPart && part === undefined
    const isOver = isAllDone || (isAborted && hasLooked)
    if (scene.takesBack && !isTakingBack && !isAborted && (isOver || GONE_WRONG.has(outcome))) {
      isTakingBack = true
      hit('undo', '')
    } else if (isOver || triesInCalm >= MOST_TRIES_IN_CALM) {
      done = true
      return
    }
    // An operator looks at it. A repeated end in calm is final.
    const isSame = !isOfPart && before?.outcome === outcome && before.reason === reason
    if (LAST_WORDS.has(outcome) && triesInCalm > 1 && isSame) {
      done = true
      return
    }
    // The image was bad: the release is corrected, and released again.
    if (GONE_WRONG.has(outcome)) tag = 'v3'
    patience = isSame ? Math.min(patience * MORE_PATIENCE, MOST_PATIENCE) : 1
    const again = (): void => launchAfter(random.between(200, outcome === 'conflict' ? 20_000 : 5_000) * patience)
    const inDoubt = pods.filter((pod) => pod.outcome === 'needsOperator')
    if (!scene.resolves || inDoubt.length === 0) return again()
    hit('resolve', '')
    isResolving = true
    commands.resolve(inDoubt, () => {
      isResolving = false
      again()
    })
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

  function crash(againAfterMs: number): boolean {
    return befall((process) => {
      running.delete(process)
      kill(process)
      // Work that was begun since the abort has to be continued.
      if (!aborts.has(process)) isAborted = false
      if (running.size === 0) launchAfter(againAfterMs)
    })
  }

  function takeOver(continueAfterMs: number): boolean {
    return befall((process) => {
      stop(process, continueAfterMs)
      launchAfter(random.between(0, 500))
    })
  }

  function isDone(): boolean {
    return done && running.size === 0 && pending === undefined && !isResolving
  }

  function resume(): void {
    if (isDone()) return
    commands.person.resume()
    scheduler.after(RESUME_AGAIN_MS, resume)
  }

  return {
    ends,
    get upgrades() {
      return upgrades
    },
    begin: () => void launch(),
    crash,
    stopFor: (ms) => befall((process) => stop(process, ms)),
    takeOver,
    rival: () => befall(() => void launch()),
    interrupt: () => befall((process) => process.interrupt()),
    abort: (how) =>
      befall((process) => {
        if (how === 'handle') process.order('abort')
        else launch('abort')
      }),
    pauseFor: (ms, how) =>
      befall((process) => {
        if (how === 'handle') process.order('pause')
        else commands.person.pause()
        scheduler.after(ms, () => {
          if (how === 'handle') process.order('resume')
          // The resume also goes to a run whose process has died and that another process continues.
          commands.person.resume()
        })
        isPausing = true
      }),
    wantOthers() {
      tag = 'v3'
      return true
    },
    wantPart(wanted, { how, isFirst, forMs }) {
      if (isTakingBack || isDone()) return
      part = wanted
      if (isFirst) tag = 'v3'
      if (how === 'rival') befall(() => void launch())
      else if (how === 'interrupt') befall((process) => process.interrupt())
      else if (how === 'crash') crash(forMs)
      else takeOver(20_000 + forMs)
    },
    calm() {
      isCalm = true
      part = undefined
      patience = 1
      if (isPausing) resume()
    },
    isDone,
    lastEnd: () => last,
  }
}
