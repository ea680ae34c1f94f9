import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { check } from './check.ts'
import type { HistoryEntry, Level, Scenario, TargetState } from './history.ts'
import type { Story, StoryOptions } from './testing/story.ts'
import { createStory, STEPS } from './testing/story.ts'
import type { Invariant } from './violation.ts'

/* For each invariant, a history that keeps it and several histories that break it. A checker that finds nothing proves nothing. */

const LEVELS: Level[] = ['G0', 'G1', 'G2', 'G3']

function judged({ history, scenario }: Story): string[] {
  return check(history, scenario).map(({ invariant, message }) => `${invariant} ${message}`)
}

/** Returns the broken invariants. */
function broken(tell: (story: Story) => void, options: StoryOptions = {}): Invariant[] {
  const story = createStory(options)
  tell(story)
  return [...new Set(check(story.history, story.scenario).map(({ invariant }) => invariant))]
}

/** The new container of the first pod ends by itself, and is started again. */
function endAnew(story: Story): void {
  const container = { uid: 'uid-0', container: 'app', id: 'c2', image: 'app:v2', address: '10.0.0.1' }
  story.tell({ type: 'container', what: 'exited', ...container })
  story.step(0, 'start')
}

/** The first pod is drained, patched, and patched back before its container has changed. */
function patchBack(story: Story): void {
  for (const step of ['drainIntent', 'drain', 'patch'] as const) story.step(0, step)
  story.pod(0, ({ spec, metadata: { annotations } }) => {
    spec.containers[0]!.image = 'app:v1'
    annotations['sluice.dev/journal'] = annotations['sluice.dev/journal']!.replace('"gen":2', '"gen":3')
  })
}

/** The first pod is patched `afterMs` after its drain, while requests are under way on it. */
function patchUnderWay(story: Story, afterMs = 0): void {
  story.step(0, 'drainIntent')
  const before: TargetState = { address: '10.0.0.1', routable: true, weight: 5, inFlight: 2, emptyAt: null, admin: 'ready' }
  story.effect(0, 'drain', { before, after: { ...before, routable: false, admin: 'drain', emptyAt: 1_000_000 } })
  story.pass(afterMs)
  story.step(0, 'patch')
}

/** The first process is killed, and a second process continues. */
function takeOver(story: Story, wanted?: string): void {
  story.tell({ type: 'process', process: 'sluice-0', what: 'crashed' })
  story.process('sluice-1', wanted)
}

/** A run is aborted after it has patched the template. The template ends with `image`. */
function abortWith(story: Story, image: string): void {
  story.workload(1, 'app:v1')
  story.ledger(0, 'open')
  story.workload(1, 'app:v2')
  story.workload(1, image)
  story.ledger(0, 'open', { finished: true, aborted: true })
  story.end({ 0: { outcome: 'unchanged', reason: 'aborted' } }, 'aborted: by a person')
}

/** A run about the first pod finds the template with the image `found`, and is aborted. The template ends with `image`. */
function abortFrom(story: Story, found: string, image: string, others: Parameters<Story['end']>[0] = {}): void {
  story.workload(2, found)
  story.ledger(0, 'open')
  story.workload(2, 'app:v3')
  story.workload(2, image)
  story.ledger(0, 'open', { finished: true, aborted: true })
  story.end({ 0: { outcome: 'unchanged', reason: 'aborted' }, ...others }, 'aborted: by a person')
}

/** Of three runs the second is done, and the two others are aborted together. The template ends with `image`. */
function abortAround(story: Story, image: string): void {
  story.workload(1, 'app:v1')
  story.ledger(0, 'open', { run: 'r1', before: 'app:v1' })
  story.workload(1, 'app:v2')
  story.ledger(0, 'closed', { run: 'r2', before: 'app:v2', finished: true })
  story.workload(1, 'app:v3')
  story.ledger(0, 'open', { run: 'r3' })
  story.workload(1, image)
  for (const run of ['r3', 'r1']) story.ledger(0, 'open', { run, finished: true, aborted: true })
  story.end({ 0: { outcome: 'unchanged', reason: 'aborted' } }, 'aborted: by a person')
}

/** Two runs upgrade the pod, and are aborted together. The template ends with `image`. */
function abortTwo(story: Story, image: string): void {
  story.workload(1, 'app:v1')
  story.ledger(0, 'open', { run: 'sluice-0', before: 'app:v1' })
  story.workload(1, 'app:v2')
  story.upgrade(0)
  story.tell({ type: 'process', process: 'sluice-0', what: 'crashed' })
  story.process('sluice-1', 'app:v3')
  story.ledger(0, 'open', { run: 'sluice-1', before: 'app:v2' })
  story.workload(1, 'app:v3')
  story.upgrade(0)
  story.workload(1, image)
  for (const run of ['sluice-1', 'sluice-0']) story.ledger(0, 'closed', { run, finished: true, aborted: true })
  story.end({}, 'aborted: by a person')
}

/** A drain intent is stored while two other pods are going. The workload has `replicas` by then. */
function intentWhileTwoGo(story: Story, replicas: number): void {
  story.workload(replicas, 'app:v1')
  for (const place of [1, 2]) story.pod(place, ({ metadata }) => void (metadata.deletionTimestamp = 'now'), 'operator')
  story.pass(60_000)
  story.step(0, 'drainIntent')
}

/**
 * The second pod was scaled away and has been going for long. Its controller was told `sinceMs` ago to keep two pods again, and has just
 * made another pod.
 */
function intentWhenBack(story: Story, sinceMs: number): void {
  story.workload(1, 'app:v1')
  story.pod(1, ({ metadata }) => void (metadata.deletionTimestamp = 'now'), 'operator')
  story.pass(60_000)
  story.workload(2, 'app:v1')
  story.pass(sinceMs)
  story.remove(1)
  story.replace(1, { ready: false })
  story.step(0, 'drainIntent')
}

/** The restore intent of a killed process is stored after the next process, which never had the Lease, has ended with `outcome`. */
function arriveLate(story: Story, outcome: string): void {
  story.upgrade(0, { without: ['restoreIntent', 'restore', 'close'] })
  story.tell({ type: 'process', process: 'sluice-0', what: 'crashed' })
  story.tell({ type: 'calm' })
  story.tell({ type: 'process', process: 'sluice-1', what: 'started', wanted: { app: 'app:v2' } })
  story.tell({ type: 'process', process: 'sluice-1', what: 'exited', outcome })
  story.journal(0, 'restore')
}

/** The drain of a killed process arrives after the next process, which never had the Lease, has ended with `outcome`. */
function drainOfKilled(story: Story, outcome: string): void {
  story.step(0, 'drainIntent')
  story.tell({ type: 'process', process: 'sluice-0', what: 'crashed' })
  story.tell({ type: 'calm' })
  story.tell({ type: 'process', process: 'sluice-1', what: 'started', wanted: { app: 'app:v2' } })
  story.tell({ type: 'process', process: 'sluice-1', what: 'exited', outcome })
  story.effect(0, 'drain')
}

interface LateIntent {
  /** The entry of the ledger before the intent is stored. */
  ledger?: Parameters<Story['ledger']>[2]
  /** True where the sender was killed before. Otherwise it is killed after the intent. */
  killed?: boolean
  /** True where another owner has come before the intent is stored. */
  followed?: boolean
  meanwhile?: () => void
}

/** A drain intent is stored when its sender can no longer act on it, and the end of the run does not mention it. `meanwhile` follows. */
function lateIntent(story: Story, { ledger = {}, killed = true, followed = true, meanwhile }: LateIntent = {}): void {
  story.ledger(0, 'open')
  const leftAt = story.history.at(-1)!.at
  if (killed) story.tell({ type: 'process', process: 'sluice-0', what: 'crashed' })
  if (followed) story.process('sluice-1')
  story.ledger(0, 'open', ledger)
  story.journal(0, 'drain', { run: 'r1', epoch: 1 }, 'sluice-0')
  Object.assign(story.history.at(-1)!, { leftAt })
  meanwhile?.()
  if (!killed) story.tell({ type: 'process', process: 'sluice-0', what: 'crashed' })
  if (!followed) story.process('sluice-1')
  story.end({ 0: { outcome: 'unchanged', reason: 'not started' } }, 'needsOperator: another pod')
}

/** The next attempt, by the owner that has found no open journal. */
function drainOverVoid(story: Story, attempt: number): void {
  const own = { run: 'r1', epoch: 2, attempt }
  story.journal(0, 'drain', own)
  if (attempt === 1) return
  story.effect(0, 'drain')
  story.journal(0, 'restore', own)
  story.effect(0, 'restore')
  story.journal(0, 'closed', own)
}

/**
 * A restore puts back the weight from before the operator's, while the state of the drain is unknown. The drain, sent earlier, arrives
 * after it.
 */
function drainAfterWeight(story: Story): number {
  story.step(0, 'drainIntent')
  const leftAt = story.history.at(-1)!.at
  story.change(0, 'operator', { weight: 9 })
  story.step(0, 'restoreIntent')
  story.step(0, 'restore')
  story.effect(0, 'drain', { leftAt })
  story.step(0, 'restore')
  return leftAt
}

/** The drain arrives after its process has ended, with `said` about the pod. Another process is refused afterwards. */
function drainLate(story: Story, said: Parameters<Story['end']>[0]): void {
  story.step(0, 'drainIntent')
  story.end(said, 'needsOperator: look')
  story.effect(0, 'drain')
  story.tell({ type: 'process', process: 'sluice-1', what: 'started', wanted: { app: 'app:v2' } })
  story.tell({ type: 'process', process: 'sluice-1', what: 'exited', outcome: 'refused: not now' })
}

/** A run upgrades the first pod, and another run upgrades it to the next images. */
function runTwice(story: Story): void {
  story.ledger(0, 'open', { run: 'sluice-0' })
  story.upgrade(0)
  story.tell({ type: 'process', process: 'sluice-0', what: 'crashed' })
  story.process('sluice-1', 'app:v3')
  story.ledger(0, 'open', { run: 'sluice-1' })
  story.upgrade(0)
}

/** A run has upgraded the pod, and begins with it again since an operator has patched it. Another run finds it half done. */
function runOver(story: Story): void {
  story.ledger(0, 'open', { run: 'sluice-0' })
  story.upgrade(0, { before: { close: () => patchByHand(story, 'app:v9') } })
  story.upgrade(0, { without: STEPS.slice(2) })
  takeOver(story, 'app:v3')
  story.ledger(0, 'open', { run: 'sluice-1' })
  story.upgrade(0, { without: ['drainIntent', 'drain'] })
}

/** An operator patches another image into the first pod, past sluice. */
function patchByHand(story: Story, image: string): void {
  story.pod(
    0,
    ({ spec, metadata, status }) => {
      spec.containers[0]!.image = image
      const { generation = 1 } = metadata
      metadata.generation = generation + 1
      status.observedGeneration = generation
    },
    'operator',
  )
}

/** The container of the pod comes up on the image in its spec. */
function comeUp(story: Story): void {
  for (const step of ['notReady', 'start', 'serve', 'ready'] as const) story.step(0, step)
}

/** A process takes the newest run back, and says that it is done. The first pod then has `image`. */
function undoTo(story: Story, image: string): void {
  story.tell({ type: 'process', process: 'sluice-1', what: 'crashed' })
  patchByHand(story, image)
  story.process('sluice-2', '')
  story.ledger(0, 'open', { run: 'sluice-2', undoes: 'sluice-1', finished: true })
  for (const run of ['sluice-0', 'sluice-1']) story.ledger(0, 'open', { run, finished: true })
  story.tell({ type: 'calm' })
  const pods = [{ uid: 'uid-0', outcome: 'skipped', reason: '' }]
  story.tell({ type: 'process', process: 'sluice-2', what: 'exited', outcome: 'done: 1 undone', pods })
}

describe('what is right', () => {
  test.each(LEVELS)('%s: three pods, one after another', (level) => {
    const story = createStory({ level, pods: 3 })
    for (const place of [0, 1, 2]) story.upgrade(place)
    story.end()
    expect(judged(story)).toEqual([])
  })

  const good: { name: string; tell: (story: Story) => void; options?: StoryOptions }[] = [
    {
      name: 'a process is killed at any step, and another goes on',
      tell(story) {
        story.upgrade(0, {
          before: {
            start() {
              story.tell({ type: 'process', process: 'sluice-0', what: 'crashed' })
              story.process('sluice-1')
            },
          },
        })
        story.end()
      },
    },
    {
      name: 'repetitions that change nothing',
      tell(story) {
        story.upgrade(0, { before: { patch: () => story.effect(0, 'drain'), close: () => story.effect(0, 'restore') } })
        story.end()
      },
    },
    {
      name: 'put back before the patch, and drained anew by the next run',
      tell(story) {
        story.upgrade(0, { without: ['patch', 'notReady', 'stop', 'start', 'serve', 'ready'] })
        takeOver(story)
        const attempt = { attempt: 2 }
        story.journal(0, 'drain', attempt)
        story.effect(0, 'drain')
        story.journal(0, 'restore', attempt)
        story.effect(0, 'restore')
        story.journal(0, 'closed', attempt)
        story.end({ 0: { outcome: 'unchanged', reason: 'put back' } })
      },
    },
    {
      name: 'a restore intent is taken over while the pod is being deleted',
      tell(story) {
        story.upgrade(0, { without: ['restore', 'close'] })
        story.tell({ type: 'process', process: 'sluice-0', what: 'crashed' })
        story.pod(0, ({ metadata }) => void (metadata.deletionTimestamp = 'now'))
        story.process('sluice-1')
        story.journal(0, 'restore')
        story.remove(0)
        story.end({ 0: { outcome: 'needsOperator', reason: 'no pod has come to its address' } })
      },
    },
    {
      name: 'a reload forgets the drain, which is made again',
      tell(story) {
        story.upgrade(0, {
          before: {
            serve() {
              story.change(0, 'reload', { admin: 'ready', routable: true, weight: 1, emptyAt: null })
              story.effect(0, 'drain')
            },
          },
        })
        story.end()
      },
    },
    {
      name: 'a reload forgets the weight that an operator had given it, once it is home, before its journal is closed',
      tell(story) {
        story.change(0, 'operator', { weight: 9 })
        story.upgrade(0, { before: { close: () => story.change(0, 'reload', { weight: 1 }) } })
        story.end()
      },
    },
    {
      name: 'rolled back before the kubelet has seen the patch: its container goes on',
      tell(story) {
        patchBack(story)
        for (const step of ['restoreIntent', 'restore', 'close'] as const) story.step(0, step)
        story.end({ 0: { outcome: 'rolledBack', reason: 'no proof in time' } }, 'rolledBack: a pod was')
      },
    },
    {
      name: 'an intent when what has come in place of another is ready',
      options: { pods: 2 },
      tell(story) {
        story.remove(0)
        story.pass(60_000)
        story.replace(0)
        story.upgrade(1)
        story.end({ 2: { outcome: 'skipped', reason: 'new' } })
      },
    },
    {
      name: 'an intent when another has long been gone, as its controller was told',
      options: { pods: 2 },
      tell(story) {
        story.workload(1, 'app:v2')
        story.remove(1)
        story.pass(60_000)
        story.upgrade(0)
        story.end()
      },
    },
    {
      name: 'said to be undone, on the image before the newest run',
      tell(story) {
        runTwice(story)
        undoTo(story, 'app:v2')
      },
    },
    {
      name: 'said to be undone, on what it had before the run that had left it half done for the second time',
      tell(story) {
        runOver(story)
        undoTo(story, 'app:v1')
      },
    },
    {
      name: 'an order that its process has not read yet, and one that comes when a pod is under way',
      options: { pods: 2 },
      tell(story) {
        story.pause('person')
        story.upgrade(0, { before: { drain: () => story.pause('sluice-0') } })
        story.lease(1)
        story.upgrade(1)
        story.end()
      },
    },
    { name: 'said to be aborted, with the template as it was', tell: (story) => abortWith(story, 'app:v1') },
    {
      name: 'said to be aborted, with the template of a run that was done in between',
      tell: (story) => abortAround(story, 'app:v3'),
    },
    {
      name: 'said to be aborted, with what the pods had that it was about',
      tell(story) {
        story.pod(1, ({ spec }) => void (spec.containers[0]!.image = 'app:v2'), 'operator')
        abortFrom(story, 'app:v2', 'app:v1', { 1: { outcome: 'skipped', reason: '' } })
      },
      options: { pods: 2 },
    },
    { name: 'two are said to be aborted, with the template before both', tell: (story) => abortTwo(story, 'app:v1') },
    { name: 'two are said to be aborted, with what all pods had in between', tell: (story) => abortTwo(story, 'app:v2') },
    {
      name: 'an operator has the target out: it is left so',
      options: { maintained: [0] },
      tell(story) {
        story.upgrade(0, { without: ['drain', 'restore'] })
        story.end()
      },
    },
    {
      name: 'an operator puts it in maintenance meanwhile, and a person is told',
      tell(story) {
        story.upgrade(0, {
          without: ['restore', 'close'],
          before: { serve: () => story.change(0, 'operator', { admin: 'maint' }) },
        })
        story.effect(0, 'restore', { accepted: false })
        story.end({ 0: { outcome: 'needsOperator', reason: 'in maintenance' } })
      },
    },
    {
      name: 'an intent while another is still going, in whose place what has come is ready',
      options: { pods: 2 },
      tell(story) {
        story.pod(0, ({ metadata }) => void (metadata.deletionTimestamp = 'now'), 'operator')
        story.replace(0)
        story.pass(60_000)
        story.step(1, 'drainIntent')
      },
    },
    {
      name: 'an intent while another is still going, at whose address what has come in its place is out',
      options: { pods: 2, maxUnavailable: 2 },
      tell(story) {
        story.pod(0, ({ metadata }) => void (metadata.deletionTimestamp = 'now'), 'operator')
        const heir = story.replace(0)
        story.pass(60_000)
        for (const step of ['drainIntent', 'drain'] as const) story.step(heir, step)
        story.step(1, 'drainIntent')
      },
    },
    {
      name: 'an intent while another is going that was scaled away',
      options: { pods: 2 },
      tell(story) {
        story.workload(1, 'app:v1')
        story.pod(1, ({ metadata }) => void (metadata.deletionTimestamp = 'now'), 'operator')
        story.pass(60_000)
        story.step(0, 'drainIntent')
      },
    },
    {
      name: 'an intent while one is going that was scaled away, and one that will be made anew',
      options: { pods: 3, maxUnavailable: 2 },
      tell: (story) => intentWhileTwoGo(story, 2),
    },
    {
      name: 'an intent when its controller has just been told to keep more again, and made another',
      options: { pods: 2 },
      tell: (story) => intentWhenBack(story, 0),
    },
    {
      name: 'an intent when another was scaled away, and its controller is told to keep more since',
      options: { pods: 2 },
      tell(story) {
        story.workload(1, 'app:v1')
        story.pod(1, ({ metadata }) => void (metadata.deletionTimestamp = 'now'), 'operator')
        story.remove(1)
        story.workload(2, 'app:v1')
        story.pass(60_000)
        story.step(0, 'drainIntent')
      },
    },
    {
      name: 'a drain arrives when its process has ended, which has said that nobody knows',
      options: { level: 'G0' },
      tell: (story) => drainLate(story, { 0: { outcome: 'needsOperator', reason: 'the drain may arrive' } }),
    },
    {
      name: 'what one that was killed has sent arrives when nobody is there any more, and what was open before was told',
      tell: (story) => arriveLate(story, 'refused: web-0 was left half done by sluice-0'),
    },
    {
      name: 'the drain of one that was killed arrives when nobody is there any more, and that it may was told',
      tell: (story) => drainOfKilled(story, 'unreachable: sluice-0 may have left web-0 half done'),
    },
    {
      name: 'a drain intent comes late, where a later owner has found nothing open on the pod',
      tell: (story) => lateIntent(story, { ledger: { voidBelow: 2 } }),
    },
    {
      name: 'a drain intent comes late, and the ledger says so only then',
      tell: (story) => lateIntent(story, { meanwhile: () => story.ledger(0, 'open', { voidBelow: 2 }) }),
    },
    {
      name: 'a drain intent comes late, and its sender lives and has lost its Lease',
      tell: (story) => lateIntent(story, { ledger: { voidBelow: 2 }, killed: false }),
    },
    {
      name: 'a drain intent comes late, where one that was killed had said so itself',
      tell: (story) => lateIntent(story, { ledger: { voidBelow: 2 }, followed: false }),
    },
    {
      name: 'a drain intent comes late, where a later run has found nothing open on the pod',
      tell: (story) => lateIntent(story, { meanwhile: () => story.ledger(0, 'open', { run: 'r2', voidBelow: 2 }) }),
    },
    {
      name: 'a drain intent comes late, and a later owner begins anew with its pod',
      tell: (story) => lateIntent(story, { ledger: { voidBelow: 2 }, meanwhile: () => drainOverVoid(story, 2) }),
    },
    {
      name: 'a weight is put back, and then the drain comes that it was put back for',
      tell(story) {
        drainAfterWeight(story)
        story.step(0, 'close')
        story.end({ 0: { outcome: 'unchanged', reason: 'not drained in time' } })
      },
    },
    {
      // A G0 balancer cannot be read, and the next pod leaves.
      name: 'an operator ends his maintenance after the restore, and leaves the target as he had found it, drained',
      options: { level: 'G0', pods: 2 },
      tell(story) {
        const after = { address: '10.0.0.1', routable: false, inFlight: 0, emptyAt: 0, admin: 'maint', weight: 5 } as const
        story.upgrade(0, {
          without: ['restore'],
          before: {
            serve: () => story.change(0, 'operator', { admin: 'maint' }),
            restore: () => story.effect(0, 'restore', { after }),
          },
        })
        story.change(0, 'operator', { admin: 'drain' })
        story.upgrade(1)
        story.end()
      },
    },
    {
      name: 'requests that are cut at the deadline, as it was said',
      options: { scenario: { proceedsAfterMs: 60_000 } },
      tell: (story) => patchUnderWay(story, 60_000),
    },
    {
      name: 'a bad image: it stays out, and that is said',
      tell(story) {
        story.upgrade(0, { without: ['serve', 'ready', 'restoreIntent', 'restore', 'close'] })
        story.end({ 0: { outcome: 'failed', reason: 'it crashes' } }, 'failed: a pod failed')
      },
    },
    {
      name: 'a drained pod is replaced at its address, and its target is put back for the new one',
      tell(story) {
        story.ledger(0, 'open')
        story.step(0, 'drainIntent')
        story.step(0, 'drain')
        story.remove(0)
        story.replace(0)
        story.ledger(0, 'restore')
        story.effect(0, 'restore')
        story.ledger(0, 'closed', { finished: true })
        story.end({ 0: { outcome: 'settled', reason: 'replaced' }, 1: { outcome: 'skipped', reason: 'new' } })
      },
    },
    {
      name: 'a drained pod is gone for good: its entry stays out',
      options: { pods: 2 },
      tell(story) {
        goesDrained(story)
        story.end({ 0: { outcome: 'settled', reason: 'gone' } })
      },
    },
    {
      name: 'the same, it was said that it stays out, and another comes after that',
      options: { pods: 2 },
      tell(story) {
        goesDrained(story)
        story.end({ 0: { outcome: 'settled', reason: 'gone', leftOut: true } })
        story.pass(1)
        comesBack(story)
      },
    },
    {
      name: 'the same, by one that was killed then, when it had written that its run is over',
      options: { pods: 2 },
      tell(story) {
        goesDrained(story)
        tellsAndIsKilled(story)
        comesBack(story)
        story.process('sluice-1')
        story.end({ 0: { outcome: 'skipped', reason: 'new' }, 1: { outcome: 'skipped', reason: 'there already' } })
      },
    },
    {
      name: 'the same, and one that was paused says so again when the other has come',
      options: { pods: 2 },
      tell(story) {
        goesDrained(story)
        story.process('sluice-1')
        story.end(SETTLED)
        saysLater(story)
      },
    },
    {
      name: 'a pod that has ended for good is not spoken of',
      options: { pods: 2 },
      tell(story) {
        story.pod(1, ({ status }) => void (status.phase = 'Failed'), 'kubelet')
        story.upgrade(0)
        story.end({ 1: { outcome: 'skipped', reason: '' } })
      },
    },
    {
      name: 'the kubelet says that a container is ready which does not answer yet',
      tell(story) {
        story.upgrade(0, { without: ['serve'] })
        story.end()
      },
    },
    {
      name: 'the kubelet says so of one that ends right then, and is started once more',
      tell(story) {
        story.upgrade(0, { without: ['serve'], before: { restoreIntent: () => endAnew(story) } })
        story.end()
      },
    },
    {
      name: 'an operator changes the weight meanwhile, and the former one comes back',
      tell(story) {
        story.upgrade(0, { before: { serve: () => story.change(0, 'operator', { weight: 66 }) } })
        story.end()
      },
    },
    {
      name: 'the container starts once more right before it is put back, and the API does not know yet',
      tell(story) {
        story.upgrade(0, {
          before: {
            restoreIntent() {
              story.step(0, 'start')
              story.step(0, 'serve')
            },
          },
        })
        story.end()
      },
    },
    {
      name: 'deleted by force and replaced at its address, its container ends later',
      tell(story) {
        story.ledger(0, 'open')
        for (const name of ['drainIntent', 'drain', 'patch'] as const) story.step(0, name)
        story.remove(0, { force: true })
        story.replace(0)
        story.ledger(0, 'restore')
        story.effect(0, 'restore')
        story.step(0, 'stop')
        story.ledger(0, 'closed', { finished: true })
        story.end({ 0: { outcome: 'settled', reason: 'replaced' }, 1: { outcome: 'skipped', reason: 'new' } })
      },
    },
    {
      name: 'two at once in a window of two',
      options: { pods: 2, maxUnavailable: 2 },
      tell(story) {
        for (const name of ['drainIntent', 'drain'] as const) for (const place of [0, 1]) story.step(place, name)
        for (const place of [0, 1]) story.upgrade(place, { without: ['drainIntent', 'drain'] })
        story.end()
      },
    },
    {
      name: 'a person removes a journal: the pod is named',
      tell(story) {
        story.step(0, 'drainIntent')
        story.step(0, 'drain')
        story.pod(
          0,
          ({ status }) => void (status.conditions = status.conditions.filter(({ type }) => type === 'Ready')),
          'somebody',
        )
        story.end({ 0: { outcome: 'failed', reason: 'somebody has removed its journal' } }, 'failed: a pod failed')
      },
    },
  ]
  test.each(good)('$name', ({ tell, options }) => {
    const story = createStory(options)
    tell(story)
    expect(judged(story)).toEqual([])
  })
})

interface Bad {
  name: string
  tell: (story: Story) => void
  options?: StoryOptions
}

const bad: Record<Invariant, Bad[]> = {
  I1: [
    {
      name: 'a second drain after the restore',
      tell: (story) => story.upgrade(0, { before: { close: () => story.effect(0, 'drain') } }),
    },
    {
      name: 'a weight is put back, and then two drains come, each of which is put back',
      tell(story) {
        const leftAt = drainAfterWeight(story)
        story.effect(0, 'drain', { leftAt, operation: 'once more' })
      },
    },
    {
      name: 'a target that an operator has out is put back',
      options: { maintained: [0] },
      tell: (story) => story.upgrade(0),
    },
    {
      name: 'a target that was found out by an operator gets an effect',
      tell(story) {
        const lbs = [['edge', 'web-0@10.0.0.1:80', 'edge', {}, 1]]
        story.journal(0, 'drain', { lbs })
        story.effect(0, 'drain')
      },
    },
    {
      name: 'G0: a second call, though it changes nothing',
      options: { level: 'G0' },
      tell: (story) => story.upgrade(0, { before: { patch: () => story.effect(0, 'drain') } }),
    },
    {
      name: 'G2: a late call is taken though its operation is remembered',
      options: { level: 'G2', scenario: { memoryMs: 60_000 } },
      tell: (story) => story.upgrade(0, { before: { close: () => story.effect(0, 'drain') } }),
    },
    {
      name: 'G3: a call that is as late as can be',
      options: { level: 'G3' },
      tell(story) {
        story.upgrade(0, { without: ['close'] })
        story.pass(60_000)
        story.effect(0, 'drain', { leftAt: 102_000 })
      },
    },
    {
      name: 'G1: a call that arrives again within its life, sent once more',
      tell: (story) =>
        story.upgrade(0, { before: { close: () => story.effect(0, 'drain', { leftAt: story.history.at(-9)!.at }) } }),
    },
    {
      name: 'put back with nothing patched, and drained a second time by the same process',
      tell(story) {
        story.upgrade(0, { without: ['patch', 'notReady', 'stop', 'start', 'serve', 'ready'] })
        story.journal(0, 'drain', { attempt: 2 })
      },
    },
  ],
  I2: [
    {
      name: 'patched once more, over what somebody has patched in since',
      tell(story) {
        for (const step of ['drainIntent', 'drain', 'patch'] as const) story.step(0, step)
        patchByHand(story, 'app:v9')
        story.step(0, 'patch')
      },
    },
    {
      name: 'patched before its template',
      tell(story) {
        story.workload(1, 'app:v1')
        story.upgrade(0, { before: { stop: () => story.workload(1, 'app:v2') } })
      },
    },
    {
      name: 'patched while requests are under way where an operator has taken it out',
      tell(story) {
        story.change(0, 'operator', { admin: 'maint', routable: false, emptyAt: 500_000 })
        story.pass(20_000)
        story.upgrade(0, { without: ['drain', 'restore'] })
      },
      options: { scenario: { lagMs: 10_000 } },
    },
    { name: 'patched before the drain', tell: (story) => story.upgrade(0, { without: ['drain'] }) },
    {
      name: 'patched while an operator’s change of long ago keeps it in',
      tell(story) {
        story.step(0, 'drainIntent')
        story.step(0, 'drain')
        story.change(0, 'operator', { admin: 'ready', routable: true })
        story.pass(60_000)
        story.step(0, 'patch')
      },
    },
    { name: 'patched while requests are under way', tell: (story) => patchUnderWay(story) },
    {
      name: 'patched while requests are under way, before the deadline at which they are cut',
      options: { scenario: { proceedsAfterMs: 60_000 } },
      tell: (story) => patchUnderWay(story, 50_000),
    },
    {
      name: 'patched without saying so in the same write',
      tell(story) {
        story.step(0, 'drainIntent')
        story.step(0, 'drain')
        story.pod(0, ({ spec }) => void (spec.containers[0]!.image = 'app:v2'))
      },
    },
  ],
  I3: [
    {
      name: 'put back on the container from before the patch',
      tell: (story) => story.upgrade(0, { without: ['notReady', 'stop', 'start', 'serve', 'ready'] }),
    },
    {
      name: 'rolled back while its container is being ended, and put back on that',
      tell(story) {
        for (const step of ['drainIntent', 'drain', 'patch', 'stop'] as const) story.step(0, step)
        story.pod(0, ({ spec }) => void (spec.containers[0]!.image = 'app:v1'))
        story.step(0, 'restoreIntent')
      },
    },
    { name: 'put back before it was ready', tell: (story) => story.upgrade(0, { without: ['ready'] }) },
    {
      name: 'put back on another image than is asked for',
      tell: (story) =>
        story.upgrade(0, {
          before: {
            start: () => story.pod(0, ({ spec }) => void (spec.containers[0]!.image = 'app:v1')),
            serve: () => story.pod(0, ({ spec }) => void (spec.containers[0]!.image = 'app:v2')),
          },
        }),
    },
    {
      name: 'put back while it is being deleted',
      tell: (story) =>
        story.upgrade(0, {
          before: { restoreIntent: () => story.pod(0, ({ metadata }) => void (metadata.deletionTimestamp = 'now')) },
        }),
    },
    {
      name: 'not ready for long, and put back unpatched',
      tell(story) {
        story.step(0, 'drainIntent')
        story.step(0, 'drain')
        story.step(0, 'notReady')
        story.pass(60_000)
        story.step(0, 'restoreIntent')
      },
    },
    {
      name: 'put back for a pod of another controller at the same address',
      tell(story) {
        story.step(0, 'drainIntent')
        story.step(0, 'drain')
        story.remove(0)
        story.replace(0, { owner: 'other' })
        story.ledger(0, 'restore')
      },
    },
    {
      name: 'put back for nobody',
      tell(story) {
        story.step(0, 'drainIntent')
        story.step(0, 'drain')
        story.remove(0)
        story.ledger(0, 'restore')
      },
    },
    {
      name: 'put back for a pod that was never ready',
      tell(story) {
        story.step(0, 'drainIntent')
        story.step(0, 'drain')
        story.remove(0)
        story.replace(0, { ready: false })
        story.ledger(0, 'restore')
      },
    },
  ],
  I4: [
    {
      name: 'the epoch goes back',
      tell: (story) => story.upgrade(0, { before: { close: () => story.journal(0, 'restore', { epoch: 0 }) } }),
    },
    {
      name: 'the attempt goes back',
      tell(story) {
        story.journal(0, 'drain', { attempt: 2 })
        story.journal(0, 'restore', { attempt: 1 })
      },
    },
    {
      name: 'the attempt grows in the middle of one',
      tell(story) {
        story.step(0, 'drainIntent')
        story.journal(0, 'drain', { attempt: 2 })
      },
    },
    {
      name: 'a drain intent that counts for nothing is gone on with',
      tell: (story) => lateIntent(story, { ledger: { voidBelow: 2 }, meanwhile: () => drainOverVoid(story, 1) }),
    },
    {
      name: 'a later owner begins anew with a pod, over a drain intent that counts',
      tell: (story) => lateIntent(story, { meanwhile: () => drainOverVoid(story, 2) }),
    },
    {
      name: 'an attempt is opened again after it was closed',
      tell(story) {
        story.upgrade(0)
        story.step(0, 'drainIntent')
      },
    },
    {
      name: 'two runs in one epoch',
      tell(story) {
        story.step(0, 'drainIntent')
        story.journal(0, 'drain', { run: 'another' })
      },
    },
    {
      name: 'two owners in one epoch, with the same run',
      tell(story) {
        story.step(0, 'drainIntent')
        story.process('sluice-1')
        story.journal(0, 'drain', { epoch: 1, run: 'sluice-0', base: ['anew'] })
      },
    },
    {
      name: 'two owners in one epoch, of two pods',
      options: { pods: 2, maxUnavailable: 2 },
      tell(story) {
        story.step(0, 'drainIntent')
        story.process('sluice-1')
        story.journal(1, 'drain', { epoch: 1, run: 'sluice-0' })
      },
    },
    { name: 'the epoch of the Lease goes back', tell: (story) => story.lease(0) },
    ...[1, 0].map((epoch): Bad => ({
      name: `a Lease that was deleted is made anew, and its owner writes in epoch ${epoch}, where another’s journal has seen 1`,
      options: { pods: 2, maxUnavailable: 2 },
      tell(story) {
        story.step(0, 'drainIntent')
        story.deleteLease()
        story.process('sluice-1')
        story.lease(epoch)
        story.journal(1, 'drain', { epoch })
      },
    })),
  ],
  I5: [
    { name: 'a drain with no intent', tell: (story) => story.effect(0, 'drain') },
    { name: 'a restore with a drain intent', tell: (story) => story.upgrade(0, { without: ['restoreIntent'] }) },
    {
      name: 'a drain that left before its intent was stored',
      tell(story) {
        story.step(0, 'drainIntent')
        story.effect(0, 'drain', { leftAt: story.history.at(-2)!.at })
      },
    },
    {
      name: 'a restore of a pod that is closed',
      tell(story) {
        story.upgrade(0)
        story.effect(0, 'restore')
      },
    },
    {
      name: 'an effect of a process that has lost its Lease',
      tell(story) {
        story.step(0, 'drainIntent')
        story.lease(2, 'sluice-1_d4e5f6')
        story.step(0, 'drain')
      },
    },
    {
      name: 'an effect with the Lease of another workload alone',
      tell(story) {
        story.lease(1, 'sluice-0_a1b2c3', 'sluice-statefulset-shop')
        story.lease(2, 'sluice-1_a1b2c3')
        story.step(0, 'drainIntent')
        story.step(0, 'drain')
      },
    },
    {
      name: 'an effect with no Lease held at all',
      tell(story) {
        story.step(0, 'drainIntent')
        story.lease(1, '')
        story.step(0, 'drain')
      },
    },
    {
      name: 'a patch of a process that has lost its Lease',
      tell(story) {
        story.step(0, 'drainIntent')
        story.step(0, 'drain')
        story.lease(2, 'sluice-1_d4e5f6')
        story.step(0, 'patch')
      },
    },
    {
      name: 'a pod is begun by a process that has renewed its Lease with an order on it',
      tell(story) {
        story.pause('person')
        story.pause('sluice-0')
        story.step(0, 'drainIntent')
      },
    },
    {
      name: 'a record of a process that has lost its Lease',
      tell(story) {
        story.lease(2, 'sluice-1_d4e5f6')
        story.ledger(0, 'open')
      },
    },
  ],
  I6: [
    {
      name: 'left drained, and said to be upgraded',
      tell(story) {
        story.upgrade(0, { without: ['restore'] })
        story.end()
      },
    },
    {
      name: 'a drain arrives when its process has ended, which has said that there was none',
      options: { level: 'G0' },
      tell: (story) => drainLate(story, { 0: { outcome: 'unchanged', reason: 'it is as it was' } }),
    },
    {
      name: 'back with another weight',
      tell(story) {
        story.upgrade(0, { without: ['restore'] })
        const state: TargetState = { address: '10.0.0.1', routable: true, weight: 1, inFlight: 0, emptyAt: null, admin: 'ready' }
        story.effect(0, 'restore', { after: state })
        story.end()
      },
    },
    {
      name: 'the journal is left open',
      tell(story) {
        story.upgrade(0, { without: ['close'] })
        story.end()
      },
    },
    {
      name: 'the process never ends',
      tell(story) {
        story.upgrade(0)
        story.tell({ type: 'calm' })
      },
    },
    {
      name: 'the ledger is left open',
      tell(story) {
        story.ledger(0, 'open')
        story.upgrade(0)
        story.tell({ type: 'calm' })
        story.tell({ type: 'process', process: 'sluice-0', what: 'crashed' })
        story.process('sluice-1')
        story.end()
      },
    },
    {
      name: 'said to be upgraded, on the old image',
      tell: (story) => story.end(),
    },
    {
      name: 'said to need nothing where all is done, on the old image',
      tell: (story) => story.end({ 0: { outcome: 'skipped', reason: '' } }),
    },
    {
      name: 'not spoken of where all is done, on the old image',
      tell(story) {
        story.tell({ type: 'calm' })
        story.tell({ type: 'process', process: 'sluice-0', what: 'exited', outcome: 'done: 0 upgraded', pods: [] })
      },
    },
    {
      name: 'drained for a pod that was replaced, and forgotten',
      tell(story) {
        story.step(0, 'drainIntent')
        story.step(0, 'drain')
        story.remove(0)
        story.replace(0)
        story.end({ 0: { outcome: 'settled', reason: '' }, 1: { outcome: 'skipped', reason: '' } })
      },
    },
    {
      name: 'somebody was told before it was drained once more',
      tell(story) {
        story.tell({
          type: 'process',
          process: 'sluice-0',
          what: 'exited',
          outcome: 'failed: web-0',
          pods: [{ uid: 'uid-0', outcome: 'failed', reason: '' }],
        })
        story.process('sluice-1')
        story.upgrade(0, { without: ['restore', 'close'] })
        story.end()
      },
    },
    {
      name: 'left drained by the next run, long after a call that came too late was mended',
      tell(story) {
        let leftAt = 0
        story.upgrade(0, { before: { drain: () => void (leftAt = story.history.at(-1)!.at + 1) }, without: ['close'] })
        story.pass(30_000)
        story.effect(0, 'drain', { leftAt })
        story.effect(0, 'restore')
        story.step(0, 'close')
        takeOver(story)
        story.journal(0, 'drain', { attempt: 2 })
        story.effect(0, 'drain')
        story.journal(0, 'closed', { attempt: 2 })
        story.end()
      },
    },
    {
      name: 'back with another weight, and drained and put back with that by the next run',
      tell(story) {
        const after: TargetState = { address: '10.0.0.1', routable: true, weight: 1, inFlight: 0, emptyAt: null, admin: 'ready' }
        story.upgrade(0, { without: ['restore'], before: { close: () => story.effect(0, 'restore', { after }) } })
        takeOver(story)
        const attempt = { attempt: 2 }
        story.journal(0, 'drain', attempt)
        story.effect(0, 'drain')
        story.journal(0, 'restore', attempt)
        story.effect(0, 'restore', { after })
        story.journal(0, 'closed', attempt)
        story.end()
      },
    },
    {
      name: 'left open by one that was killed, which nobody was told, whatever it has sent arrives later',
      tell: (story) => arriveLate(story, 'refused: the API server does not answer'),
    },
    {
      name: 'left drained by one that was killed, which nobody was told, whatever it has sent arrives later',
      tell: (story) => drainOfKilled(story, 'refused: the API server does not answer'),
    },
    {
      name: 'a drain intent comes late, where nobody has found nothing open on the pod',
      tell: (story) => lateIntent(story),
    },
    {
      name: 'a drain intent comes late, where nobody has, and nothing was drained for the pod when its process ended',
      tell: (story) => lateIntent(story, { ledger: { idle: true } }),
    },
    {
      name: 'a drain intent comes late, where nobody has, and its run is over',
      tell: (story) => lateIntent(story, { ledger: { finished: true } }),
    },
    {
      name: 'a drain intent comes late, where its own owner alone has',
      tell: (story) => lateIntent(story, { ledger: { voidBelow: 1 } }),
    },
    {
      name: 'a drain intent comes late, and the ledger says so no more',
      tell(story) {
        story.ledger(0, 'open', { voidBelow: 2 })
        lateIntent(story)
      },
    },
    {
      name: 'a drain intent comes late, where the record of an earlier run says so',
      tell(story) {
        story.ledger(0, 'open', { run: 'r0', voidBelow: 2 })
        lateIntent(story)
      },
    },
    {
      name: 'a drain intent comes late, where an owner of another Lease has',
      tell: (story) =>
        lateIntent(story, { meanwhile: () => story.ledger(0, 'open', { run: 'r2', lease: 'lease-2', voidBelow: 2 }) }),
    },
    {
      name: 'a drain intent comes late that names no Lease',
      tell: (story) =>
        lateIntent(story, {
          ledger: { voidBelow: 2 },
          meanwhile: () => story.journal(0, 'drain', { run: 'r1', epoch: 1, lease: undefined }, 'sluice-0'),
        }),
    },
    {
      name: 'a drain intent comes late of which a person has said that the pod is out',
      tell: (story) =>
        lateIntent(story, {
          ledger: { voidBelow: 2 },
          meanwhile: () =>
            story.journal(
              0,
              'drain',
              { run: 'r1', epoch: 1, lbs: [['edge', 'web-0@10.0.0.1:80', 'edge', { weight: 5 }, 2]] },
              'sluice-0',
            ),
        }),
    },
    {
      name: 'a drain intent comes late that was claimed',
      tell(story) {
        story.ledger(0, 'open', { run: 'r0' })
        lateIntent(story, {
          ledger: { voidBelow: 2 },
          meanwhile: () => story.journal(0, 'drain', { run: 'r1', origin: 'r0', epoch: 1 }, 'sluice-0'),
        })
      },
    },
    {
      name: 'the ledger says so of a drain intent whose sender lives and has its Lease',
      tell: (story) => lateIntent(story, { ledger: { voidBelow: 2 }, killed: false, followed: false }),
    },
    {
      name: 'the ledger says so of one whose sender lives and has its Lease, of which somebody has raised the count',
      tell(story) {
        story.lease(2)
        lateIntent(story, { ledger: { voidBelow: 2 }, killed: false, followed: false })
      },
    },
    {
      name: 'a drain intent comes late, and the pod is drained by it all the same',
      tell: (story) =>
        lateIntent(story, { ledger: { voidBelow: 2 }, meanwhile: () => story.effect(0, 'drain', { leftAt: 1_000 }) }),
    },
    {
      name: 'left drained, where an operator has changed its weight meanwhile',
      tell(story) {
        story.upgrade(0, { without: ['restore'], before: { serve: () => story.change(0, 'operator', { weight: 9 }) } })
        story.end()
      },
    },
    {
      name: 'left drained, where a reload has changed its weight meanwhile',
      tell(story) {
        story.upgrade(0, { without: ['restore'], before: { close: () => story.change(0, 'reload', { weight: 9 }) } })
        story.end()
      },
    },
    {
      name: 'left drained, where an operator had it in maintenance meanwhile, and has given it back',
      tell(story) {
        const maintain = (): void => {
          story.change(0, 'operator', { admin: 'maint' })
          story.change(0, 'operator', { admin: 'drain' })
        }
        story.upgrade(0, { without: ['restore'], before: { serve: maintain } })
        story.end()
      },
    },
    {
      name: 'left out by a run that says that all is done, whatever was told before',
      tell(story) {
        story.upgrade(0, { without: ['restoreIntent', 'restore', 'close'] })
        const pods = [{ uid: 'uid-0', outcome: 'failed', reason: 'it is late' }]
        story.tell({ type: 'process', process: 'sluice-0', what: 'exited', outcome: 'failed: it is late', pods })
        story.process('sluice-1')
        story.end({ 0: { outcome: 'skipped', reason: '' } })
      },
    },
    {
      name: 'left drained, and nobody was told but by a person himself',
      tell(story) {
        story.upgrade(0, { without: ['restore'] })
        story.tell({ type: 'process', process: 'word', what: 'started', isWord: true })
        story.tell({ type: 'process', process: 'word', what: 'exited', outcome: 'resolved: web-0 is out at edge' })
        story.end({ 0: { outcome: 'unchanged', reason: '' } }, 'failed: another pod')
      },
    },
    {
      name: 'left drained where somebody has removed its journal, and nobody was told',
      tell(story) {
        story.upgrade(0, { without: ['restoreIntent', 'restore', 'close'] })
        story.pod(0, ({ metadata }) => void (metadata.annotations = {}), 'operator')
        story.end()
      },
    },
    {
      name: 'left drained for a pod that has come back at another address, and nobody was told',
      tell(story) {
        story.upgrade(0, { without: ['restoreIntent', 'restore', 'close'] })
        story.remove(0)
        comesBack(story)
        story.end({ 0: { outcome: 'settled', reason: '' } })
      },
    },
    {
      name: 'the same, and it was said that it stays out, for nothing was to come',
      tell(story) {
        story.upgrade(0, { without: ['restoreIntent', 'restore', 'close'] })
        story.remove(0)
        comesBack(story)
        story.pass(60_000)
        story.end({ 0: { outcome: 'settled', reason: '', leftOut: true } })
      },
    },
    {
      name: 'left drained, and it was said that it stays out when another had come in its place',
      options: { pods: 2 },
      tell(story) {
        goesDrained(story)
        story.process('sluice-1')
        story.end({ ...SETTLED, 0: { outcome: 'settled', reason: 'gone' } })
        saysLater(story)
      },
    },
    ...[
      { name: 'by one that was killed before it had written that its run is over', over: { finished: false } },
      { name: 'by one that was killed, and had told something else of it last', over: { last: 'needsOperator' } },
      { name: 'by one that was killed, and the pod had come before', over: { isThere: true } },
    ].map(({ name, over }) => ({
      name: `left drained, and it was said that it stays out ${name}`,
      options: { pods: 2 },
      tell(story: Story) {
        goesDrained(story)
        if (over.isThere) {
          comesBack(story)
          story.pass(60_000)
        }
        tellsAndIsKilled(story, over)
        if (!over.isThere) comesBack(story)
        story.process('sluice-1')
        story.end({ 0: { outcome: 'skipped', reason: 'new' }, 1: { outcome: 'skipped', reason: 'there already' } })
      },
    })),
    {
      name: 'said to be done, with the template left on the old image',
      tell(story) {
        const spec = { template: { spec: { containers: [{ name: 'app', image: 'app:v1' }] } } }
        const after = { metadata: { name: 'web' }, spec }
        story.tell({ type: 'stored', by: 'operator', resource: 'statefulsets.apps', verb: 'create', before: undefined, after })
        story.upgrade(0)
        story.end()
      },
    },
    {
      name: 'said to be rolled back, on the new image',
      tell(story) {
        story.upgrade(0)
        story.end({ 0: { outcome: 'rolledBack', reason: 'it was late' } }, 'rolledBack: a pod was')
      },
    },
    {
      name: 'said to be aborted, with what a pod had that it was not about',
      tell(story) {
        story.pod(1, ({ spec }) => void (spec.containers[0]!.image = 'app:v4'), 'operator')
        abortFrom(story, 'app:v2', 'app:v4')
      },
      options: { pods: 2 },
    },
    { name: 'said to be aborted, with the new template', tell: (story) => abortWith(story, 'app:v2') },
    {
      name: 'said to be aborted, with the template before a run that was done in between',
      tell: (story) => abortAround(story, 'app:v2'),
    },
    { name: 'two are said to be aborted, with the template of the second', tell: (story) => abortTwo(story, 'app:v3') },
    {
      name: 'said to be undone, on the new image',
      tell(story) {
        runTwice(story)
        undoTo(story, 'app:v3')
      },
    },
    {
      name: 'said to be undone, on the image before the run before',
      tell(story) {
        runTwice(story)
        undoTo(story, 'app:v1')
      },
    },
    {
      name: 'said to be undone, on what the run before had upgraded it to when it left it half done',
      tell(story) {
        runOver(story)
        undoTo(story, 'app:v2')
      },
    },
    {
      name: 'said to be undone, on an image that an earlier run had left it on half done',
      tell(story) {
        for (const step of ['drainIntent', 'drain', 'patch'] as const) story.step(0, step)
        takeOver(story, 'app:v3')
        story.ledger(0, 'open', { run: 'sluice-1' })
        story.upgrade(0, { without: ['drainIntent', 'drain'] })
        undoTo(story, 'app:v2')
      },
    },
  ],
  I7: [
    {
      name: 'an intent while two are going that will be made anew',
      options: { pods: 3, maxUnavailable: 2 },
      tell: (story) => intentWhileTwoGo(story, 3),
    },
    {
      name: 'two are out in a window of one',
      options: { pods: 2 },
      tell(story) {
        for (const place of [0, 1]) for (const name of ['drainIntent', 'drain'] as const) story.step(place, name)
      },
    },
    {
      name: 'an intent while another is out',
      options: { pods: 2 },
      tell(story) {
        story.step(0, 'drainIntent')
        story.step(0, 'drain')
        story.step(1, 'drainIntent')
      },
    },
    {
      name: 'an intent while another has not been ready for long',
      options: { pods: 2 },
      tell(story) {
        story.step(1, 'notReady')
        story.pass(60_000)
        story.step(0, 'drainIntent')
      },
    },
    {
      name: 'an intent while an operator has another out, which is on its new images already',
      options: { pods: 2 },
      tell(story) {
        story.upgrade(1)
        story.change(1, 'operator', { admin: 'maint', routable: false })
        story.process('sluice-1')
        story.step(0, 'drainIntent')
      },
    },
    {
      name: 'an intent while an operator has another out',
      options: { pods: 2 },
      tell(story) {
        story.change(1, 'operator', { admin: 'maint', routable: false })
        story.process('sluice-1')
        story.step(0, 'drainIntent')
      },
    },
    {
      name: 'two are out in a window of one, where an operator has changed the weight of the first meanwhile',
      options: { pods: 2 },
      tell(story) {
        story.step(1, 'drainIntent')
        for (const name of ['drainIntent', 'drain'] as const) story.step(0, name)
        story.change(0, 'operator', { weight: 9 })
        story.effect(1, 'drain')
      },
    },
    {
      name: 'an intent while another has long been going',
      options: { pods: 2 },
      tell(story) {
        story.pod(1, ({ metadata }) => void (metadata.deletionTimestamp = 'now'), 'operator')
        story.pass(60_000)
        story.step(0, 'drainIntent')
      },
    },
    {
      name: 'an intent while another has long been going, and as many are to be there',
      options: { pods: 2 },
      tell(story) {
        story.workload(2, 'app:v1')
        story.pod(1, ({ metadata }) => void (metadata.deletionTimestamp = 'now'), 'operator')
        story.pass(60_000)
        story.step(0, 'drainIntent')
      },
    },
    {
      name: 'an intent while another has long been gone, and none has come in its place',
      options: { pods: 2 },
      tell(story) {
        story.remove(1)
        story.pass(60_000)
        story.step(0, 'drainIntent')
      },
    },
    {
      name: 'an intent while what has come in place of another that is still going is not ready',
      options: { pods: 2 },
      tell(story) {
        story.pod(1, ({ metadata }) => void (metadata.deletionTimestamp = 'now'), 'operator')
        story.replace(1, { ready: false })
        story.pass(60_000)
        story.step(0, 'drainIntent')
      },
    },
    {
      name: 'an intent while what has just come in place of another that was long going is not ready yet',
      options: { pods: 2 },
      tell(story) {
        story.pod(1, ({ metadata }) => void (metadata.deletionTimestamp = 'now'), 'operator')
        story.pass(60_000)
        story.remove(1)
        story.replace(1, { ready: false })
        story.step(0, 'drainIntent')
      },
    },
    {
      name: 'an intent when its controller has long been told to keep more again, and has just made another',
      options: { pods: 2 },
      tell: (story) => intentWhenBack(story, 60_000),
    },
    {
      name: 'an intent while another has long been gone, and what has just come in its place was one of more that are to be kept',
      options: { pods: 2 },
      tell(story) {
        story.workload(2, 'app:v1')
        story.remove(1)
        story.pass(60_000)
        story.workload(3, 'app:v1')
        story.replace(1, { ready: false })
        story.step(0, 'drainIntent')
      },
    },
    {
      name: 'an intent while another has long been going, and its controller has just been told to keep more',
      options: { pods: 2 },
      tell(story) {
        story.workload(2, 'app:v1')
        story.pod(1, ({ metadata }) => void (metadata.deletionTimestamp = 'now'), 'operator')
        story.pass(60_000)
        story.workload(3, 'app:v1')
        story.step(0, 'drainIntent')
      },
    },
    {
      name: 'an intent while what has long come in place of another is not ready, and its controller has just been told another number',
      options: { pods: 2 },
      tell(story) {
        story.workload(2, 'app:v1')
        story.remove(1)
        story.replace(1, { ready: false })
        story.pass(60_000)
        story.workload(3, 'app:v1')
        story.step(0, 'drainIntent')
      },
    },
    {
      name: 'an earlier owner’s intent is carried out while another has not been ready for long',
      options: { pods: 2 },
      tell(story) {
        story.step(0, 'drainIntent')
        story.step(1, 'notReady')
        story.pass(60_000)
        takeOver(story)
        story.journal(0, 'drain')
        story.effect(0, 'drain')
      },
    },
  ],
  exposure: [
    { name: 'restarted while it is in', tell: (story) => story.upgrade(0, { without: ['drain', 'restore'] }) },
    {
      name: 'put back before it answers',
      tell: (story) => story.upgrade(0, { without: ['serve', 'ready'] }),
    },
    {
      name: 'put back when it had long not been ready any more, whatever was so when that was decided',
      tell(story) {
        const unready = (): void => {
          story.pod(0, ({ status }) => void (status.conditions[0]!.status = 'False'), 'kubelet')
          story.pass(20_000)
        }
        story.upgrade(0, { before: { restore: unready } })
      },
      options: { scenario: { lagMs: 10_000 } },
    },
    {
      name: 'put back before it answers: it has ended, and was started once more',
      tell: (story) => story.upgrade(0, { without: ['serve', 'ready'], before: { restoreIntent: () => endAnew(story) } }),
    },
    {
      name: 'drained again only after its container has ended',
      tell: (story) => story.upgrade(0, { without: ['drain'], before: { start: () => story.effect(0, 'drain') } }),
    },
  ],
}

describe.each(Object.entries(bad) as [Invariant, Bad[]][])('%s is broken', (invariant, cases) => {
  test.each(cases)('$name', ({ tell, options }) => {
    expect(broken(tell, options)).toContain(invariant)
  })
})

describe('what nobody can know', () => {
  test.each([
    { when: 'before', excused: false },
    { when: 'after', excused: true },
  ])('the drain intent of a process that was killed arrives $when the last one has ended', ({ when, excused }) => {
    const found = broken((story) => {
      story.tell({ type: 'process', process: 'sluice-0', what: 'crashed' })
      story.tell({ type: 'calm' })
      const arrive = (): void => story.journal(0, 'drain', {}, 'sluice-0')
      if (when === 'before') arrive()
      story.tell({ type: 'process', process: 'sluice-1', what: 'started', wanted: {} })
      story.tell({ type: 'process', process: 'sluice-1', what: 'exited', outcome: 'aborted: by ann', pods: [] })
      if (when === 'after') arrive()
    })
    expect(found.includes('I6')).toBe(!excused)
  })

  test.each([
    { other: 'web-1', excused: true },
    { other: 'web-0', excused: false },
  ])('and before one about $other has, after an abort', ({ other, excused }) => {
    const found = broken((story) => {
      story.tell({ type: 'process', process: 'sluice-0', what: 'crashed' })
      story.tell({ type: 'calm' })
      story.tell({ type: 'process', process: 'sluice-1', what: 'started', wanted: {} })
      story.tell({ type: 'process', process: 'sluice-1', what: 'exited', outcome: 'aborted: by ann', pods: [] })
      story.journal(0, 'drain', {}, 'sluice-0')
      story.tell({ type: 'process', process: 'sluice-2', what: 'started', wanted: {}, part: [other] })
      story.tell({ type: 'process', process: 'sluice-2', what: 'exited', outcome: 'aborted: by ann', pods: [] })
    })
    expect(found.includes('I6')).toBe(!excused)
  })

  const LAG = { scenario: { lagMs: 1_000 } }
  const FORGOTTEN = { admin: 'ready', routable: true, weight: 1, emptyAt: null } as const

  /** A reload puts the pod back, 5 s before its container is stopped. */
  const reloaded = (meanwhile: (story: Story) => void): Invariant[] =>
    broken((story) => {
      story.upgrade(0, {
        before: {
          stop() {
            meanwhile(story)
            story.change(0, 'reload', FORGOTTEN)
            story.pass(5_000)
          },
        },
      })
    }, LAG)

  test('control: a reload that is not seen in time', () => {
    expect(reloaded(() => {})).toContain('exposure')
  })

  test.each(['Lease', 'ledger', 'pod'])('nor by a successor, where the most that it has written is its %s', (written) => {
    const found = reloaded((story) => {
      story.tell({ type: 'process', process: 'sluice-0', what: 'crashed' })
      story.process('sluice-1')
      if (written === 'ledger') story.ledger(0, 'open')
      if (written === 'pod') story.journal(0, 'patched', { gen: 2 })
    })
    expect(found.includes('exposure')).toBe(written === 'pod')
  })

  test.each([
    { before: 'stop', found: undefined },
    { before: 'patch', found: 'I2' },
  ] as const)('a reload that forgets before the $before that an operator had it out', ({ before, found }) => {
    const forget = (story: Story) => (): void => {
      story.change(0, 'reload', FORGOTTEN)
      story.pass(5_000)
    }
    const all = broken((story) => story.upgrade(0, { without: ['drain', 'restore'], before: { [before]: forget(story) } }), {
      ...LAG,
      maintained: [0],
    })
    expect(all.filter((one) => one === 'I2' || one === 'exposure')).toEqual(found ? [found] : [])
  })

  test('a reload of a load balancer that answers nobody', () => {
    expect(reloaded((story) => story.tell({ type: 'silent', balancer: 'edge', forMs: 10_000 }))).not.toContain('exposure')
    expect(reloaded((story) => story.tell({ type: 'silent', balancer: 'inner', forMs: 10_000 }))).toContain('exposure')
    expect(reloaded((story) => story.tell({ type: 'silent', balancer: 'edge', forMs: 1_000 }))).toContain('exposure')
  })

  test('a reload of a load balancer that does not answer the process that would see it (seed 61043339)', () => {
    const silent = (process: string, forMs: number) =>
      reloaded((story) => story.tell({ type: 'silent', balancer: 'edge', process, forMs }))
    expect(silent('sluice-0', 10_000)).not.toContain('exposure')
    expect(silent('sluice-1', 10_000)).toContain('exposure')
    expect(silent('sluice-0', 1_000)).toContain('exposure')
  })

  test('a reload while the API server does not let a process renew its Lease', () => {
    const renewed = (afterMs: number): Invariant[] =>
      broken((story) => {
        const renewLate = (): void => {
          story.lease(1)
          story.pass(6_000)
          story.change(0, 'reload', FORGOTTEN)
          story.pass(3_000)
          story.lease(1)
          story.pass(afterMs)
        }
        story.upgrade(0, { before: { stop: renewLate } })
      }, LAG)
    expect(renewed(4_000)).not.toContain('exposure')
    expect(renewed(6_000)).toContain('exposure')
  })

  test.each([
    { sinceMs: 20_000, seen: false },
    { sinceMs: 5_000, seen: true },
  ])('a reload, where the Lease was renewed $sinceMs ms after it was written last: $seen', ({ sinceMs, seen }) => {
    const found = reloaded((story) => {
      story.lease(1)
      story.pass(sinceMs)
      story.lease(1)
    })
    expect(found.includes('exposure')).toBe(seen)
  })

  test.each([
    { part: [0], seen: true },
    { part: [1], seen: false },
  ])('a reload, where who acts is about the pods at $part: $seen', ({ part, seen }) => {
    const found = broken(
      (story) => {
        for (const step of ['drainIntent', 'drain', 'patch', 'notReady'] as const) story.step(0, step)
        story.process('sluice-1', 'app:v2', part)
        story.journal(0, 'patched')
        story.pass(60_000)
        story.change(0, 'reload', FORGOTTEN)
        story.pass(5_000)
        story.step(0, 'stop')
      },
      { ...LAG, pods: 2 },
    )
    expect(found.includes('exposure')).toBe(seen)
  })

  test('a reload while the process is stopped', () => {
    expect(reloaded((story) => story.tell({ type: 'process', process: 'sluice-0', what: 'paused' }))).not.toContain('exposure')
    const continued = reloaded((story) => {
      story.tell({ type: 'process', process: 'sluice-0', what: 'paused' })
      story.tell({ type: 'process', process: 'sluice-0', what: 'continued' })
    })
    expect(continued).toContain('exposure')
  })

  test.each([
    { sleptMs: 20_000, hasBegun: false, seen: false },
    { sleptMs: 20_000, hasBegun: true, seen: true },
    { sleptMs: 5_000, hasBegun: false, seen: true },
  ])(
    'a reload after a process has slept for $sleptMs ms, and has written a pod since: $hasBegun',
    ({ sleptMs, hasBegun, seen }) => {
      const found = reloaded((story) => {
        story.tell({ type: 'process', process: 'sluice-0', what: 'paused' })
        story.pass(sleptMs)
        story.tell({ type: 'process', process: 'sluice-0', what: 'continued' })
        story.pass(100)
        if (hasBegun) story.journal(0, 'patched', { gen: 2 })
      })
      expect(found.includes('exposure')).toBe(seen)
    },
  )

  test('a pod that somebody deletes ends by that', () => {
    const deleted = reloaded((story) => story.pod(0, ({ metadata }) => void (metadata.deletionTimestamp = 'now'), 'operator'))
    expect(deleted).not.toContain('exposure')
  })

  test.each([
    { before: 'stop', to: '10.0.0.2', excused: true },
    { before: 'patch', to: '10.0.0.2', excused: false },
    { before: 'stop', to: '10.0.0.1', excused: false },
  ] as const)('a pod comes to $to before the $before of its container', ({ before, to, excused }) => {
    const found = broken(
      (story) => {
        const comeTo = (address: string): void => story.pod(0, ({ status }) => void (status.podIP = address), 'kubelet')
        const container = (what: 'started' | 'serving' | 'exited'): void =>
          story.tell({ type: 'container', what, uid: 'uid-0', container: 'app', id: 'moved', image: 'app:v1', address: to })
        comeTo('10.0.0.9')
        story.remove(1)
        const patch = (): void => {
          container('started')
          container('serving')
          if (before === 'patch') comeTo(to)
        }
        const stop = (): void => {
          if (before === 'stop') comeTo(to)
          container('exited')
        }
        story.upgrade(0, { without: ['drain', 'stop'], before: { patch, stop } })
      },
      { pods: 2 },
    )
    expect(found.includes('exposure')).toBe(!excused)
  })

  test.each([
    { name: 'of a process that has ended', ends: true, arrives: 'later', excused: true },
    { name: 'of one that goes on', ends: false, arrives: 'later', excused: false },
    { name: 'before the last one has begun', ends: true, arrives: 'before', excused: false },
  ])('a ledger is made after calm: $name', ({ ends, arrives, excused }) => {
    const found = broken((story) => {
      story.upgrade(0)
      const make = (): void => story.ledger(0, 'open', { by: 'sluice-0' })
      if (ends) story.tell({ type: 'process', process: 'sluice-0', what: 'crashed' })
      story.tell({ type: 'calm' })
      if (arrives === 'before') make()
      story.process('sluice-1')
      if (arrives === 'later') make()
      story.end({ 0: { outcome: 'skipped', reason: '' } })
    })
    expect(found.includes('I6')).toBe(!excused)
  })

  test.each([
    { when: 'after the end', isLater: true },
    { when: 'before it', isLater: false },
  ])('what a reload has made of a target whose pod is gone for good; another comes to its address $when', ({ isLater }) => {
    const found = broken((story) => {
      story.step(0, 'drainIntent')
      story.step(0, 'drain')
      story.change(0, 'reload', { admin: 'ready', routable: true, weight: 1 })
      story.remove(0)
      if (!isLater) story.replace(0, { owner: 'shop' })
      story.end({ 0: { outcome: 'settled', reason: '' } })
      if (isLater) story.replace(0, { owner: 'shop' })
    })
    expect(found.includes('I6')).toBe(!isLater)
  })

  describe.each(['deleted', 'cleared'] as const)('a Lease is %s, and another owner comes', (how) => {
    test.each([
      { who: 'its owner goes on', by: 'sluice-0', ms: 4_000, excused: true },
      { who: 'its owner goes on for longer than it lives', by: 'sluice-0', ms: 16_000, excused: false },
      { who: 'another acts beside it', by: 'sluice-1', ms: 4_000, excused: false },
      { who: 'another acts when it has run out', by: 'sluice-1', ms: 16_000, excused: true },
      // A cleared Lease is waited out in any case.
      { who: 'another acts, and nothing was on record', by: 'sluice-1', ms: 4_000, hasBegun: false, excused: how === 'deleted' },
    ])('$who: $excused', ({ by, ms, hasBegun = true, excused }) => {
      const found = broken((story) => {
        if (hasBegun) story.step(0, 'drainIntent')
        if (how === 'deleted') story.deleteLease()
        else story.clearLease()
        story.process('sluice-1')
        story.pass(ms)
        story.journal(0, 'drain', { epoch: by === 'sluice-0' ? 1 : 2, base: ['anew'] }, by)
      })
      expect(found.includes('I5')).toBe(!excused)
    })
  })

  test('the holder of a Lease is cleared that got an order last, and it is taken by another when its owner’s last renewal has run out', () => {
    const found = broken((story) => {
      story.step(0, 'drainIntent')
      story.pass(8_000)
      story.pause('person')
      story.clearLease()
      story.pass(8_000)
      story.process('sluice-1')
      story.journal(0, 'drain', { epoch: 2, base: ['anew'] }, 'sluice-1')
    })
    expect(found).not.toContain('I5')
  })

  test('the holder of a Lease was cleared once, and its owner has had it again, and has given it back', () => {
    const found = broken((story) => {
      story.clearLease()
      story.pass(16_000)
      story.lease(2)
      story.lease(2, '')
      story.process('sluice-1')
      story.journal(0, 'drain', { epoch: 2 }, 'sluice-1')
    })
    expect(found).not.toContain('I5')
  })

  test.each([true, false])(
    'the owner of a Lease that was cleared ends, and had sent before that what comes then: %s',
    (isBefore) => {
      const found = broken((story) => {
        story.clearLease()
        const leftAt = story.history.at(-1)!.at
        story.tell({ type: 'process', process: 'sluice-0', what: 'crashed' })
        story.journal(0, 'drain')
        if (isBefore) Object.assign(story.history.at(-1)!, { leftAt })
      })
      expect(found.includes('I5')).toBe(!isBefore)
    },
  )

  test('a Lease that was deleted is made anew with an epoch that a journal has seen, and its owner writes nothing', () => {
    const found = broken((story) => {
      story.step(0, 'drainIntent')
      story.deleteLease()
      story.lease(1, 'another_d4e5f6')
    })
    expect(found).not.toContain('I4')
  })

  test('a write of an owner that has lost its Lease arrives after the next one’s, about another pod', () => {
    const found = broken(
      (story) => {
        story.process('sluice-1')
        story.step(0, 'drainIntent')
        story.journal(1, 'drain', { epoch: 1 }, 'sluice-0')
      },
      { pods: 2, maxUnavailable: 2 },
    )
    expect(found).not.toContain('I4')
  })

  test.each(['before', 'after'] as const)('an operator has another out: it has come there %s the run was planned', (when) => {
    const found = broken(
      (story) => {
        const move = (): void => story.pod(1, ({ status }) => void (status.podIP = '10.0.0.2'), 'kubelet')
        story.pod(1, ({ status }) => void (status.podIP = '10.0.0.9'), 'kubelet')
        story.change(1, 'operator', { admin: 'maint', routable: false })
        if (when === 'before') move()
        story.process('sluice-1')
        if (when === 'after') move()
        story.step(0, 'drainIntent')
      },
      { pods: 2 },
    )
    expect(found.includes('I7')).toBe(when === 'before')
  })

  test.each([
    { drained: 'a moment ago', ms: 500, excused: true },
    { drained: 'long ago', ms: 60_000, excused: false },
  ])('an entry that was drained $drained for another pod at its address is not drained anew: $excused', ({ ms, excused }) => {
    const found = broken((story) => {
      story.step(0, 'drainIntent')
      story.step(0, 'drain')
      const heir = story.replace(0)
      story.pass(ms)
      story.upgrade(heir)
    }, LAG)
    expect(found.includes('I1')).toBe(!excused)
  })

  test.each([
    { what: 'in maintenance', part: [0], excused: true },
    { what: 'in maintenance', part: [0, 1], excused: false },
    { what: 'left drained', part: [0], excused: false },
    { what: 'not ready', part: [0], excused: false },
  ])('a run about the pods at $part: the second is $what', ({ what, part, excused }) => {
    const found = broken(
      (story) => {
        if (what === 'in maintenance') story.change(1, 'operator', { admin: 'maint', routable: false })
        if (what === 'left drained') for (const step of ['drainIntent', 'drain'] as const) story.step(1, step)
        if (what === 'not ready') story.step(1, 'notReady')
        story.pass(60_000)
        story.process('sluice-1', 'app:v2', part)
        story.step(0, 'drainIntent')
      },
      { pods: 3 },
    )
    expect(found.includes('I7')).toBe(!excused)
  })

  test.each([
    { what: 'on the old image', part: [0], excused: true },
    { what: 'on the old image', part: [0, 1], excused: false },
    { what: 'left open, which was told', part: [0], excused: true },
    { what: 'left open, which was told', part: [0, 1], excused: false },
    { what: 'left open', part: [0], excused: false },
    { what: 'in an open ledger', part: [0], excused: true },
  ])('a run about the pods at $part says that all is done: the second is $what', ({ what, part, excused }) => {
    const found = broken(
      (story) => {
        if (what.startsWith('left open')) story.step(1, 'drainIntent')
        const pods = [{ uid: 'uid-1', outcome: 'interrupted', reason: '' }]
        const said = what === 'left open, which was told' ? { pods } : {}
        story.tell({ type: 'process', process: 'sluice-0', what: 'exited', outcome: 'interrupted: by a person', ...said })
        if (what === 'in an open ledger') story.ledger(1, 'open')
        story.tell({ type: 'calm' })
        story.process('sluice-1', 'app:v2', part)
        story.upgrade(0)
        const skipped = { outcome: 'skipped', reason: '' }
        story.end({ 1: skipped, 2: skipped })
      },
      { pods: 3 },
    )
    expect(found.includes('I6')).toBe(!excused)
  })

  test.each([
    { effects: false, who: 'an earlier owner' },
    { effects: true, who: 'an earlier owner' },
    { effects: false, who: 'the same one' },
    { effects: true, who: 'the same one' },
  ])('$who has written an intent: it takes a place once it is carried out ($effects)', ({ effects, who }) => {
    const found = broken(
      (story) => {
        story.step(0, 'drainIntent')
        if (effects) story.step(0, 'drain')
        if (who === 'an earlier owner') story.process('sluice-1')
        story.step(1, 'drainIntent')
      },
      { pods: 2 },
    )
    expect(found.includes('I7')).toBe(effects)
  })

  test.each([
    { when: 'before the intent is taken over', staleMs: 0, excused: false },
    { when: 'after that', staleMs: 0, excused: true },
    { when: 'before the intent is taken over', staleMs: 1_000, excused: true },
  ])('what an earlier owner has drained is put back by a reload $when, and another is down', ({ when, staleMs, excused }) => {
    const found = broken(
      (story) => {
        const reload = (): void => story.change(0, 'reload', { admin: 'ready', routable: true, emptyAt: null })
        story.step(0, 'drainIntent')
        story.step(0, 'drain')
        story.step(1, 'notReady')
        story.pass(60_000)
        takeOver(story)
        if (when !== 'after that') reload()
        story.journal(0, 'drain')
        if (when === 'after that') reload()
        story.effect(0, 'drain')
      },
      { pods: 2, scenario: { staleMs } },
    )
    expect(found.includes('I7')).toBe(!excused)
  })

  describe('a pod is patched while the drain of a load balancer that counts nothing may not have taken effect yet', () => {
    const trailMs = { edge: 5_000 }

    /** Reports whether the history is a violation. */
    function isCut(tell: (story: Story) => void, { level, ...over }: Partial<Scenario> & { level?: Level } = {}): boolean {
      const scenario = { uncounted: ['edge'], trailMs, ...over }
      const found = broken(
        (story) => {
          story.step(0, 'drainIntent')
          story.step(0, 'drain')
          tell(story)
        },
        { scenario, ...(level === undefined ? {} : { level }) },
      )
      return found.includes('I2')
    }

    test.each(LEVELS)('%s: before the settle time is over, and after it', (level) => {
      for (const [afterMs, cut] of [
        [4_000, true],
        [5_000, false],
      ] as const) {
        const patched = (story: Story): void => {
          story.pass(afterMs)
          story.step(0, 'patch')
        }
        expect(isCut(patched, { level })).toBe(cut)
      }
    })

    test.each([
      { afterMs: 4_000, cut: true },
      { afterMs: 4_900, cut: false },
    ])('nor where all is cut at a deadline, which had come after $afterMs ms: $cut', ({ afterMs, cut }) => {
      const patched = (story: Story): void => {
        story.pass(afterMs - 200)
        story.step(0, 'patch')
      }
      expect(isCut(patched, { proceedsAfterMs: 4_500 })).toBe(cut)
    })

    test.each([
      { sent: 'since', isBefore: false, cut: true },
      { sent: 'before', isBefore: true, cut: false },
    ])('a reload has put it back, and a drain that was sent $sent has taken it out again', ({ isBefore, cut }) => {
      const drainedAgain = (story: Story): void => {
        story.pass(6_000)
        const leftAt = story.history.at(-1)!.at + 6_010
        story.change(0, 'reload', { admin: 'ready', routable: true, weight: 1, emptyAt: null })
        story.effect(0, 'drain', isBefore ? { leftAt } : {})
        story.step(0, 'patch')
      }
      expect(isCut(drainedAgain)).toBe(cut)
    })

    test.each([
      { sent: 'before', inMs: 100, trail: 5_000, stale: 0, cut: false },
      { sent: 'before', inMs: 100, trail: 10, stale: 0, cut: true },
      { sent: 'before', inMs: 100, trail: 10, stale: 2_000, afterMs: 1_000, cut: false },
      { sent: 'before', inMs: 100, trail: 10, stale: 2_000, afterMs: 2_010, cut: true },
      { sent: 'before', inMs: 20_000, trail: 5_000, stale: 2_000, cut: true },
      { sent: 'since', inMs: 100, trail: 5_000, stale: 2_000, cut: true },
    ])('and requests of then are under way (drain sent $sent, in for $inMs ms, trail $trail ms, stale $stale ms)', (given) => {
      const found = broken(
        (story) => {
          story.step(0, 'drainIntent')
          story.step(0, 'drain')
          story.pass(6_000)
          const leftAt = story.history.at(-1)!.at
          story.change(0, 'reload', { admin: 'ready', routable: true, weight: 1, emptyAt: null })
          const { after: before } = story.history.at(-1) as { after: TargetState }
          story.pass(given.inMs)
          const after: TargetState = { ...before, routable: false, admin: 'drain', emptyAt: 1_000_000 }
          story.effect(0, 'drain', { before, after, ...(given.sent === 'before' ? { leftAt } : {}) })
          story.pass(given.afterMs ?? 0)
          story.step(0, 'patch')
        },
        { scenario: { lagMs: 10_000, trailMs: { edge: given.trail }, staleMs: given.stale } },
      )
      expect(found.includes('I2')).toBe(given.cut)
    })

    test.each([
      { again: 'delivered once more', isSame: true, cut: false },
      { again: 'sent once more', isSame: false, cut: true },
    ])('a call was said to be done, and was not; then it was $again', ({ isSame, cut }) => {
      const drainedLate = (story: Story): void => {
        story.change(0, 'reload', { admin: 'ready', routable: true, weight: 1, emptyAt: null })
        story.effect(0, 'drain', { accepted: false })
        const { leftAt } = story.history.at(-1) as { leftAt?: number }
        story.pass(500)
        story.effect(0, 'drain', isSame ? { leftAt: leftAt! } : {})
        story.step(0, 'patch')
      }
      expect(isCut(drainedLate)).toBe(cut)
    })

    test.each([
      { onItsWayMs: 0, cut: true },
      { onItsWayMs: 1_000, cut: false },
    ])('it was drained again, and the patch had been on its way for $onItsWayMs ms', ({ onItsWayMs, cut }) => {
      const drainedAgain = (story: Story): void => {
        story.pass(6_000)
        story.change(0, 'reload', { admin: 'ready', routable: true, weight: 1, emptyAt: null })
        story.effect(0, 'drain')
        story.step(0, 'patch')
        const patch = story.history.at(-1)!
        Object.assign(patch, { leftAt: patch.at - onItsWayMs })
      }
      expect(isCut(drainedAgain)).toBe(cut)
    })

    test.each([
      { how: '', trail: { edge: 1_000 }, cut: true },
      { how: ', but new ones may still come', trail: { edge: 20_000 }, cut: false },
    ])('requests are under way where an operator has long had it out$how', ({ trail, cut }) => {
      const found = broken(
        (story) => {
          story.change(0, 'operator', { admin: 'maint', routable: false, emptyAt: 500_000 })
          story.pass(15_000)
          story.upgrade(0, { without: ['drain', 'restore'] })
        },
        { scenario: { lagMs: 10_000, trailMs: trail } },
      )
      expect(found.includes('I2')).toBe(cut)
    })
  })

  test.each([
    { when: 'after the intent', untouched: 0, excused: true },
    { when: 'before the intent', untouched: 1, excused: false },
  ])('an earlier owner’s intent, and another is down: an operator took half of the pod out $when', ({ untouched, excused }) => {
    const found = broken(
      (story) => {
        const half = { address: '10.0.0.1', routable: true, inFlight: 0, emptyAt: null, admin: 'ready', weight: 5 } as const
        const out = { ...half, admin: 'maint', routable: false, emptyAt: 0 } as const
        const lbs = [
          ['edge', 'web-0@10.0.0.1:80', 'edge', { admin: 'ready', weight: 5 }, 0],
          ['edge', 'half@10.0.0.1:80', 'edge', { admin: untouched ? 'maint' : 'ready', weight: 5 }, untouched],
        ]
        story.tell({ type: 'target', by: 'setup', balancer: 'edge', target: 'half', before: null, after: half })
        const maintain = (): void =>
          story.tell({ type: 'target', by: 'operator', balancer: 'edge', target: 'half', before: half, after: out })
        if (untouched) maintain()
        story.journal(0, 'drain', { lbs })
        if (!untouched) maintain()
        story.step(1, 'notReady')
        story.pass(60_000)
        takeOver(story)
        story.journal(0, 'drain', { lbs })
        story.effect(0, 'drain')
      },
      { pods: 2 },
    )
    expect(found.includes('I7')).toBe(!excused)
  })

  test.each([
    { sent: 'when others filled the window', beforeMs: 4_000, counts: true },
    { sent: 'before others took the place', beforeMs: 8_000, counts: false },
    { sent: 'before nobody waited for it any more', beforeMs: 11_000, counts: false },
  ])('an intent that was long on its way, sent $sent, is one too many: $counts', ({ beforeMs, counts }) => {
    const found = broken(
      (story) => {
        story.pass(60_000)
        story.step(1, 'drainIntent')
        story.step(1, 'drain')
        story.pass(5_000)
        story.step(0, 'drainIntent')
        const intent = story.history.at(-1)!
        Object.assign(intent, { leftAt: intent.at - beforeMs })
      },
      { pods: 2 },
    )
    expect(found.includes('I7')).toBe(counts)
  })

  test.each([
    { sent: 'before an operator has put it back', beforeMs: 20_000, excused: true },
    { sent: 'long after an operator has put it back', beforeMs: 1_000, excused: false },
  ])('images that were long on their way: sent $sent', ({ beforeMs, excused }) => {
    const found = broken(
      (story) => {
        const end = (): void => {
          story.change(0, 'operator', { admin: 'ready', routable: true, emptyAt: null })
          story.pass(15_000)
        }
        const patch = (): void => {
          const write = story.history.at(-1)!
          Object.assign(write, { leftAt: write.at - beforeMs })
        }
        story.upgrade(0, { without: ['drain', 'restore'], before: { patch: end, notReady: patch } })
      },
      { ...LAG, maintained: [0] },
    )
    expect(found.includes('I2')).toBe(!excused)
  })

  test.each([
    { name: 'one that is in maintenance too', maintained: [0, 1], isUnder: false, found: false },
    { name: 'one that is in rotation', maintained: [1], isUnder: false, found: true },
    { name: 'one in maintenance beside what is under way', maintained: [0, 1], isUnder: true, found: true },
  ])('beside a pod in maintenance, in a window of one: $name', ({ maintained, isUnder, found }) => {
    const all = broken(
      (story) => {
        if (isUnder) {
          story.step(1, 'drainIntent')
          story.step(1, 'patch')
        }
        story.pass(10_000)
        story.step(0, 'drainIntent')
      },
      { pods: 2, maxUnavailable: 1, ...LAG, maintained },
    )
    expect(all.includes('I7')).toBe(found)
  })

  test.each([
    { sent: 'before the pod was not ready any more', beforeMs: 20_000, excused: true },
    { sent: 'when it had long been so', beforeMs: 5_000, excused: false },
  ])('a restore intent that was long on its way: sent $sent', ({ beforeMs, excused }) => {
    const found = broken((story) => {
      const end = (): void => {
        story.pod(0, ({ status }) => void (status.conditions[0]!.status = 'False'), 'kubelet')
        story.pass(15_000)
      }
      const restore = (): void => {
        const intent = story.history.at(-1)!
        Object.assign(intent, { leftAt: intent.at - beforeMs })
      }
      story.upgrade(0, { before: { restoreIntent: end, restore } })
    }, LAG)
    expect(found.includes('I3')).toBe(!excused)
  })

  test.each([
    { agoMs: 500, excused: true },
    { agoMs: 5_000, excused: false },
  ])('what has come in the place of a pod has moved on $agoMs ms before it is put back for it', ({ agoMs, excused }) => {
    const found = broken((story) => {
      story.ledger(0, 'open')
      story.step(0, 'drainIntent')
      story.step(0, 'drain')
      story.remove(0)
      const heir = story.replace(0)
      story.pod(heir, ({ status }) => void (status.podIP = '10.0.0.9'), 'kubelet')
      story.pass(agoMs)
      story.ledger(0, 'restore')
    }, LAG)
    expect(found.includes('I3')).toBe(!excused)
  })

  test.each(['edge', 'inner'])('G2: a call comes once more after a reload of %s has forgotten the first', (balancer) => {
    const found = broken(
      (story) => {
        const again = (): void => {
          story.tell({ type: 'forgot', balancer })
          story.effect(0, 'drain')
        }
        story.upgrade(0, { before: { close: again } })
      },
      { level: 'G2' },
    )
    expect(found.includes('I1')).toBe(balancer === 'inner')
  })

  /** The drain intent of one pod is stored 5 s after the other pod has gone down. */
  const intended = (meanwhile: (story: Story) => void): Invariant[] =>
    broken(
      (story) => {
        meanwhile(story)
        story.pod(1, ({ status }) => void (status.conditions[0]!.status = 'False'), 'kubelet')
        story.pass(5_000)
        story.step(0, 'drainIntent')
      },
      { ...LAG, pods: 2 },
    )

  test('a short stop long after a reload excuses nothing', () => {
    const stopped = broken((story) => {
      story.upgrade(0, {
        before: {
          stop() {
            story.change(0, 'reload', FORGOTTEN)
            story.pass(5_000)
            story.tell({ type: 'process', process: 'sluice-0', what: 'paused' })
            story.tell({ type: 'process', process: 'sluice-0', what: 'continued' })
          },
        },
      })
    }, LAG)
    expect(stopped).toContain('exposure')
  })

  test.each([
    { agoMs: 100, excused: true },
    { agoMs: 5_000, excused: false },
  ])('the drain of a former attempt is delivered once more $agoMs ms before the next intent', ({ agoMs, excused }) => {
    const found = broken((story) => {
      let sent: Partial<Extract<HistoryEntry, { type: 'effect' }>> = {}
      story.upgrade(0, {
        before: {
          patch() {
            const { leftAt } = story.history.findLast((entry) => entry.type === 'effect')!
            sent = { leftAt }
          },
        },
      })
      story.effect(0, 'drain', sent)
      story.pass(agoMs)
      story.journal(0, 'drain', { attempt: 2 })
      story.effect(0, 'drain', { operation: 'drain again' })
      story.journal(0, 'restore', { attempt: 2 })
      story.effect(0, 'restore', { operation: 'restore again' })
    }, LAG)
    expect(found.includes('I1')).toBe(!excused)
  })

  test.each([
    { agoMs: 100, onItsWayMs: 0, excused: true },
    { agoMs: 2_000, onItsWayMs: 0, excused: false },
    { agoMs: 9_000, onItsWayMs: 8_500, excused: true },
    { agoMs: 9_000, onItsWayMs: 7_000, excused: false },
  ])('an operator has changed it $agoMs ms before its record was stored, which took $onItsWayMs ms', (given) => {
    const { agoMs, onItsWayMs, excused } = given
    const found = broken((story) => {
      story.change(0, 'operator', { weight: 9 })
      story.pass(agoMs)
      story.step(0, 'drainIntent')
      const record = story.history.at(-1)!
      Object.assign(record, { leftAt: record.at - onItsWayMs })
      story.journal(0, 'restore')
      story.effect(0, 'restore')
    }, LAG)
    expect(found.includes('I1')).toBe(!excused)
  })

  test.each([
    { place: 'while the next is drained', isDrained: true },
    { place: 'when the next has been restored', isDrained: false },
  ])("an attempt's restore comes once more $place, which is drained again", ({ isDrained }) => {
    const attempt = { attempt: 2 }
    const found = broken((story) => {
      let leftAt = 0
      story.upgrade(0, {
        before: { restore: () => void (leftAt = story.history.at(-1)!.at + 90) },
        without: ['patch', 'notReady', 'stop', 'start', 'serve', 'ready'],
      })
      takeOver(story)
      story.journal(0, 'drain', attempt)
      story.effect(0, 'drain', { operation: 'second' })
      if (!isDrained) {
        story.journal(0, 'restore', attempt)
        story.effect(0, 'restore', { operation: 'second back' })
      }
      story.effect(0, 'restore', { leftAt })
      story.journal(0, 'drain', attempt)
      story.effect(0, 'drain', { operation: 'third' })
    })
    expect(found.includes('I1')).toBe(!isDrained)
  })

  test.each([true, false])('an operator has put back what is patched, and that is ready: %s', (isReady) => {
    const found = broken((story) => {
      for (const step of ['drainIntent', 'drain', ...(isReady ? [] : (['notReady'] as const))] as const) story.step(0, step)
      story.pass(60_000)
      story.change(0, 'operator', { admin: 'ready', routable: true, emptyAt: null })
      story.pass(60_000)
      story.step(0, 'patch')
    }, LAG)
    expect(found.includes('I2')).toBe(isReady)
  })

  test.each([
    { name: 'and it is in when it is drained', isSaid: true, isDrained: false, effect: 'drain', excused: true },
    { name: 'and it is drained once more', isSaid: true, isDrained: true, effect: 'drain', excused: false },
    {
      name: 'and it is put back, though nothing has drained it',
      isSaid: true,
      isDrained: false,
      effect: 'restore',
      excused: true,
    },
    { name: 'control: nobody says so', isSaid: false, isDrained: false, effect: 'restore', excused: false },
  ] as const)('a person says of one that cannot be read that it is out, $name', ({ isSaid, isDrained, effect, excused }) => {
    const found = broken(
      (story) => {
        story.step(0, 'drainIntent')
        if (isDrained) story.step(0, 'drain')
        story.tell({ type: 'process', process: 'word', what: 'started', isWord: true })
        story.lease(2, 'word_a1b2c3')
        const mark = { epoch: 2, lbs: [['edge', 'web-0@10.0.0.1:80', 'edge', {}, isSaid ? 2 : 0]] }
        story.journal(0, 'drain', mark, 'word')
        story.lease(3)
        story.journal(0, effect, { epoch: 3 })
        story.effect(0, effect)
      },
      { level: 'G0' },
    )
    expect(found.includes('I1')).toBe(!excused)
  })

  test('what a person has patched in is overwritten by the next process, or before sluice has patched it', () => {
    const next = broken((story) => {
      for (const step of ['drainIntent', 'drain', 'patch'] as const) story.step(0, step)
      patchByHand(story, 'app:v9')
      takeOver(story)
      story.step(0, 'patch')
    })
    const before = broken((story) => story.upgrade(0, { before: { patch: () => patchByHand(story, 'app:v9') } }))
    expect([next, before]).toEqual([[], []])
  })

  test.each([
    { name: 'a moment before the call', ms: 100, excused: true },
    { name: 'long before it', ms: 31_000, excused: false },
  ])('a person patches the pod $name', ({ ms, excused }) => {
    const found = broken((story) => {
      story.upgrade(0, { without: ['restore', 'close'] })
      patchByHand(story, 'app:v9')
      patchByHand(story, 'app:v2')
      story.pass(ms)
      story.step(0, 'restore')
      story.step(0, 'stop')
    })
    expect(found.includes('exposure')).toBe(!excused)
  })

  test('he patches it when it is home: the restart is his', () => {
    const found = broken((story) => {
      story.upgrade(0)
      patchByHand(story, 'app:v9')
      story.step(0, 'stop')
      comeUp(story)
      story.end()
    })
    expect(found).toEqual([])
  })

  test.each([
    { name: 'the new one runs', comesUp: true, excused: true },
    { name: 'his still does', comesUp: false, excused: false },
  ])('he takes back what he has patched in, and $name as the intent comes', ({ comesUp, excused }) => {
    const found = broken((story) => {
      for (const step of ['drainIntent', 'drain', 'patch'] as const) story.step(0, step)
      patchByHand(story, 'app:v9')
      comeUp(story)
      patchByHand(story, 'app:v2')
      if (comesUp) comeUp(story)
      for (const step of ['restoreIntent', 'restore', 'close'] as const) story.step(0, step)
      story.end()
    })
    expect(found.includes('I3')).toBe(!excused)
  })

  test.each([
    { name: 'while the undone run had not begun', image: 'app:v9', excused: true },
    { name: 'control: nobody had', image: undefined, excused: false },
  ])('said to be undone, on an image that somebody had patched in $name', ({ image, excused }) => {
    const found = broken((story) => {
      if (image !== undefined) patchByHand(story, image)
      story.ledger(0, 'open', { run: 'sluice-0' })
      story.upgrade(0)
      takeOver(story, '')
      story.ledger(0, 'open', { run: 'sluice-1', undoes: 'sluice-0', finished: true })
      story.pod(0, ({ spec }) => void (spec.containers[0]!.image = 'app:v9'), 'sluice-1')
      story.ledger(0, 'open', { run: 'sluice-0', finished: true })
      story.tell({ type: 'calm' })
      const pods = [{ uid: 'uid-0', outcome: 'skipped', reason: '' }]
      story.tell({ type: 'process', process: 'sluice-1', what: 'exited', outcome: 'done: 1 undone', pods })
    })
    expect(found.includes('I6')).toBe(!excused)
  })

  test.each([
    { by: 'sluice-1', without: [], excused: true },
    { by: 'operator', without: [], excused: true },
    { by: 'operator, and was not home yet', without: ['close'] as const, excused: false },
  ])('what was said to be upgraded has got other images since, by $by', ({ by: who, without, excused }) => {
    const by = who.split(',')[0]!
    const found = broken((story) => {
      story.upgrade(0, { without })
      story.process('sluice-1', 'app:v3')
      story.pod(0, ({ spec }) => void (spec.containers[0]!.image = 'app:v3'), by)
      const container = { uid: 'uid-0', container: 'app', image: 'app:v3', address: '10.0.0.1' }
      story.tell({ type: 'container', what: 'started', id: 'c9', ...container })
      story.tell({ type: 'process', process: 'sluice-1', what: 'crashed' })
      story.tell({ type: 'calm' })
      const pods = [{ uid: 'uid-0', outcome: 'upgraded', reason: 'home' }]
      story.tell({ type: 'process', process: 'sluice-0', what: 'exited', outcome: 'done: all is well', pods })
    })
    expect(found.includes('I6')).toBe(!excused)
  })

  test.each([
    { who: 'a person who has looked', isWord: true },
    { who: 'a run', isWord: false },
  ])('a restore that was begun begins anew as another attempt, by the word of $who', ({ isWord }) => {
    const found = broken((story) => {
      story.upgrade(0, { without: ['restore', 'close'] })
      story.process('sluice-1')
      if (isWord) story.tell({ type: 'process', process: 'word', what: 'started', isWord })
      story.lease(3, `${isWord ? 'word' : 'sluice-1'}_a1b2c3`)
      const mark = { attempt: 2, epoch: 3, gen: 2, lbs: [['edge', 'web-0@10.0.0.1:80', 'edge', {}, 2]] }
      story.journal(0, 'patched', mark, isWord ? 'word' : 'sluice-1')
      story.lease(4)
      story.journal(0, 'restore', { attempt: 2, epoch: 4, gen: 2 })
      story.effect(0, 'restore', { operation: 'again' })
    })
    expect(found.includes('I4')).toBe(!isWord)
    expect(found.includes('I1')).toBe(!isWord)
  })

  test.each([
    { isReady: true, maintained: [0] },
    { isReady: false, maintained: [0] },
    { isReady: false, maintained: [] },
  ])('a reload has put back what is patched: ready $isReady, an operator had it out $maintained', ({ isReady, maintained }) => {
    const found = broken(
      (story) => {
        story.step(0, 'drainIntent')
        if (maintained.length === 0) story.step(0, 'drain')
        if (!isReady) story.step(0, 'notReady')
        story.pass(60_000)
        story.change(0, 'reload', { admin: 'ready', routable: true, emptyAt: null })
        story.pass(60_000)
        story.step(0, 'patch')
      },
      { ...LAG, maintained },
    )
    expect(found.includes('I2')).toBe(isReady || maintained.length === 0)
  })

  test('the pod in its place has gone again, a moment ago or long since', () => {
    const settled = (agoMs: number, onItsWayMs = 0): Invariant[] =>
      broken((story) => {
        story.ledger(0, 'open')
        story.step(0, 'drainIntent')
        story.step(0, 'drain')
        story.remove(0)
        story.remove(story.replace(0))
        story.pass(agoMs)
        story.ledger(0, 'restore')
        const record = story.history.at(-1)!
        Object.assign(record, { leftAt: record.at - onItsWayMs })
      }, LAG)
    expect(settled(100)).not.toContain('I3')
    expect(settled(2_000)).toContain('I3')
    // The intent left while the pod was there, which no guard of a ledger can check.
    expect(settled(9_000, 8_500)).not.toContain('I3')
    expect(settled(9_000, 7_000)).toContain('I3')
  })

  test('what was sent before the process was stopped arrives when it arrives', () => {
    expect(intended(() => {})).toContain('I7')
    expect(intended((story) => story.tell({ type: 'process', process: 'sluice-0', what: 'paused' }))).not.toContain('I7')
  })
})

describe('what a level does not promise', () => {
  /** A drain that left with the first drain arrives `ageMs` old, after everything was put back. */
  function late(level: Level, ageMs: number, mended: boolean): Invariant[] {
    return broken(
      (story) => {
        story.step(0, 'drainIntent')
        const leftAt = story.history.at(-1)!.at + 10
        story.upgrade(0, { without: ['drainIntent', 'close'] })
        story.pass(leftAt + ageMs - story.history.at(-1)!.at - 100)
        story.effect(0, 'drain', { leftAt })
        if (mended) story.effect(0, 'restore')
        story.step(0, 'close')
        story.end()
      },
      { level },
    )
  }

  test.each<{ level: Level; ageMs: number; mended: boolean; broken: Invariant[] }>([
    { level: 'G1', ageMs: 9_000, mended: true, broken: ['I1'] },
    { level: 'G1', ageMs: 15_000, mended: true, broken: [] },
    { level: 'G1', ageMs: 15_000, mended: false, broken: ['I6'] },
    { level: 'G1', ageMs: 25_000, mended: false, broken: [] },
    { level: 'G0', ageMs: 15_000, mended: false, broken: [] },
    { level: 'G3', ageMs: 15_000, mended: true, broken: ['I1'] },
  ])('$level, a drain $ageMs ms old, mended: $mended', (told) => {
    const found = late(told.level, told.ageMs, told.mended)
    // A further invariant is broken only as a consequence.
    expect(found.slice(0, told.broken.length || 1)).toEqual(told.broken)
  })

  test('G1: a request that the network delivers twice is beyond it, G2 knows it by its operation', () => {
    const twice = (level: Level): Invariant[] =>
      broken(
        (story) => {
          story.step(0, 'drainIntent')
          const leftAt = story.history.at(-1)!.at + 90
          story.effect(0, 'drain', { leftAt })
          story.upgrade(0, { without: ['drainIntent', 'drain'], before: { close: () => story.effect(0, 'drain', { leftAt }) } })
        },
        { level },
      )
    expect([twice('G1'), twice('G2')]).toEqual([[], ['I1']])
  })

  test('G2: what it has refused is not known where the network delivers it once more', () => {
    const left = (isRepeat: boolean): Invariant[] =>
      broken(
        (story) => {
          story.step(0, 'drainIntent')
          const leftAt = story.history.at(-1)!.at + 90
          story.effect(0, 'drain', { leftAt, accepted: false })
          for (const name of ['restoreIntent', 'restore', 'close'] as const) story.step(0, name)
          story.effect(0, 'drain', isRepeat ? { leftAt } : {})
          story.end({ 0: { outcome: 'unchanged', reason: '' } })
        },
        { level: 'G2' },
      )
    // The control: sluice itself sends the call a second time.
    expect([left(true), left(false).includes('I6')]).toEqual([[], true])
  })

  test('G2: an operation that was forgotten', () => {
    const after = (memoryMs: number): Invariant[] =>
      broken(
        (story) => {
          story.upgrade(0, { without: ['close'] })
          story.pass(5_000)
          story.effect(0, 'drain', { leftAt: story.history.at(-9)!.at })
        },
        { level: 'G2', scenario: { memoryMs } },
      )
    expect([after(1_000).includes('I1'), after(60_000).includes('I1')]).toEqual([false, true])
  })
})

test('a good history with its effects in any other order is no good history', () => {
  fc.assert(
    fc.property(
      fc.shuffledSubarray([0, 1, 2, 3, 4, 5], { minLength: 6, maxLength: 6 }),
      fc.constantFrom(...LEVELS),
      (order, level) => {
        const story = createStory({ level, pods: 3 })
        for (const place of [0, 1, 2]) story.upgrade(place)
        story.end()
        const { scenario, history } = story
        const found = check(reordered(history, order), scenario)
        expect(found.length > 0).toBe(order.some((from, to) => from !== to))
      },
    ),
    { numRuns: 300 },
  )
})

type Effect = Extract<HistoryEntry, { type: 'effect' }>

/** Reorders the effects of a history. Each effect takes the state of the target at its new place as its state before. */
function reordered(history: readonly HistoryEntry[], order: readonly number[]): HistoryEntry[] {
  const effects = history.filter((entry): entry is Effect => entry.type === 'effect')
  const states = new Map<string, TargetState>()
  let next = 0
  return history.map((entry) => {
    if (entry.type === 'target' && entry.after) states.set(entry.target, entry.after)
    if (entry.type !== 'effect') return entry
    const moved = effects[order[next++]!]!
    const before = states.get(moved.target)!
    const wants = moved.effect === 'drain' ? 'drain' : 'ready'
    const after = before.admin === wants ? before : { ...moved.after, emptyAt: moved.after.routable ? null : entry.at }
    states.set(moved.target, after)
    return { ...moved, at: entry.at, leftAt: entry.leftAt, before, after }
  })
}

test('a violation says where it is', () => {
  const story = createStory()
  story.upgrade(0, { without: ['drain'] })
  const [first] = check(story.history, story.scenario)
  const { at, entries, invariant } = first!
  expect(invariant).toBe('I2')
  expect(story.history[entries.at(-1)!]).toMatchObject({ at, type: 'stored', resource: 'pods' })
})

describe('a container that somebody has named may be changed while its pod is in rotation', () => {
  const inRotation = (story: Story): void => story.upgrade(0, { without: ['drain', 'restore'] })

  test('where it alone is', () => {
    expect(broken(inRotation, { scenario: { undrained: ['app'] } })).toEqual([])
  })

  test('not where another one is changed, nor where none is named', () => {
    expect(broken(inRotation, { scenario: { undrained: ['proxy'] } })).toEqual(['I2', 'exposure'])
    expect(broken(inRotation)).toEqual(['I2', 'exposure'])
  })
})

/** The first of two pods is drained and goes away. The second pod is upgraded. */
function goesDrained(story: Story): void {
  story.step(0, 'drainIntent')
  story.step(0, 'drain')
  story.remove(0)
  story.upgrade(1)
}

const SETTLED = {
  0: { outcome: 'settled', reason: 'gone', leftOut: true },
  1: { outcome: 'skipped', reason: 'there already' },
} as const

/** Another pod takes the place of the first, and later the first process says that the entry of the first pod stays out. */
function saysLater(story: Story): void {
  story.pass(1)
  comesBack(story)
  story.pass(60_000)
  const pods = [{ uid: 'uid-0', ...SETTLED[0] }]
  story.tell({ type: 'process', process: 'sluice-0', what: 'exited', outcome: 'conflict: another has taken over', pods })
}

/** The process says that the first pod, which is gone, stays out. It is killed before its end. */
function tellsAndIsKilled(story: Story, { finished = true, last }: { finished?: boolean; last?: string } = {}): void {
  story.tell({ type: 'told', process: 'sluice-0', uid: 'uid-0', outcome: 'settled', leftOut: true })
  if (last !== undefined) story.tell({ type: 'told', process: 'sluice-0', uid: 'uid-0', outcome: last })
  story.ledger(0, 'closed', { finished })
  story.tell({ type: 'process', process: 'sluice-0', what: 'crashed' })
}

/** The StatefulSet makes its first pod again, at another address. */
function comesBack(story: Story): void {
  const ownerReferences = [{ kind: 'StatefulSet', name: 'web', controller: true }]
  const metadata = { uid: 'uid-9', name: 'web-0', ownerReferences }
  const after = { metadata, spec: { containers: [{ name: 'app', image: 'app:v2' }] }, status: { podIP: '10.0.0.9' } }
  story.tell({ type: 'stored', by: 'statefulset', resource: 'pods', verb: 'create', before: undefined, after })
}
