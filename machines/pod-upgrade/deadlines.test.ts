import { beforeEach, describe, expect, test } from 'vitest'
import type { PodView } from '../../src/pods/glossary.ts'
import { restartProof } from '../../src/pods/witness.ts'
import type { EffectInput, StoreInput } from './ports.ts'
import type { Drive } from './testing/drive.ts'
import { createDrive, DEADLINES, DELAYS, LAST_TRIES_MS } from './testing/drive.ts'
import { PODS } from './testing/explore.ts'
import { IN, OUT, PUT_BACK, recorded, REJECTED, said, UNKNOWN, UNREAD } from './testing/recorded.ts'
import { TARGET, V1, V2 } from './testing/world.ts'

/* Each deadline fires with its name, and calls under way are waited out. The clock is stepped in small hops. */

const JUST_READY = { code: 'not-ready-in-time' }
const BUSY = { state: 'out', inFlight: 3, detail: said('edge/web-0 draining, 3 in flight') }

async function draining(): Promise<Drive> {
  const drive = createDrive()
  drive.send({ type: 'start' })
  await drive.answer({ kind: 'taken', targets: [TARGET], address: '10.0.0.1' })
  await drive.answer({ kind: 'stored' })
  await drive.stored()
  expect(drive.state()).toBe('draining.calling')
  return drive
}

async function emptying(): Promise<Drive> {
  const drive = await draining()
  await drive.answer({ kind: 'applied' })
  expect(drive.state()).toBe('emptying.settling')
  return drive
}

/** The restart is proven and the pod is ready: the restore intent is being written. */
async function restoring(): Promise<Drive> {
  const drive = createDrive({ stored: recorded('patched'), pod: PODS.witness })
  await drive.answer(OUT)
  drive.send({ type: 'observed', pod: PODS.ready, stored: recorded('patched') })
  await drive.pass(5_000)
  expect([drive.state(), drive.calling()]).toEqual(['restoring.writing', 'store'])
  return drive
}

const end = ({ actor }: Drive) => {
  const { value, context } = actor.getSnapshot()
  return { value, outcome: context.outcome, deadline: context.deadline, reason: context.reason }
}

/** Answers each call from `answers` until the machine takes another step. A function gets the input of the call. */
async function keepAnswering(drive: Drive, answers: Record<string, unknown>, ms: number): Promise<void> {
  const next = (): unknown => {
    const answer = answers[drive.calling() ?? '']
    return typeof answer === 'function' ? answer(drive.input()) : answer
  }
  for (let passed = 0; passed < ms; passed += 50) {
    for (let answer = next(); answer !== undefined; answer = next()) await drive.answer(answer)
    await drive.pass(50)
  }
}

test('checking: not in time', async () => {
  const drive = createDrive()
  drive.send({ type: 'start' })
  await keepAnswering(drive, { snapshot: UNKNOWN }, DEADLINES.drainDeadline + 500)
  expect(end(drive)).toEqual({
    value: 'failed',
    outcome: 'failed',
    deadline: 'drain',
    reason: { code: 'not-checked-in-time', because: UNKNOWN.reason },
  })
})

test('draining: a call under way is waited out, however late it is', async () => {
  const drive = await draining()
  await drive.pass(DEADLINES.drainDeadline * 2)
  expect([drive.state(), drive.calling()]).toEqual(['draining.calling', 'effect'])
  await drive.answer({ kind: 'applied' })
  expect(drive.state()).toBe('emptying.settling')
})

test('draining: not confirmed in time, and put back', async () => {
  const drive = await draining()
  await drive.answer(UNKNOWN)
  await keepAnswering(drive, { inspect: UNREAD }, DEADLINES.drainDeadline + 500)
  expect(drive.state()).toBe('readmitting.writing')
  expect((drive.input() as StoreInput).record.step).toBe('restore')
  await drive.stored()
  await drive.answer({ kind: 'applied' })
  await drive.answer({ kind: 'equal' })
  await drive.stored()
  expect(end(drive)).toMatchObject({
    value: 'done',
    outcome: 'failed',
    deadline: 'drain',
    reason: { code: 'drain-not-confirmed', because: UNKNOWN.reason },
  })
})

test('emptying: what is in flight is looked at when it has settled, never before', async () => {
  const drive = await emptying()
  await drive.pass(1_950)
  expect(drive.calling()).toBeUndefined()
  await drive.pass(50)
  expect([drive.state(), drive.calling()]).toEqual(['emptying.reading', 'inspect'])
  await drive.answer(BUSY)
  await drive.pass(100)
  await drive.answer(OUT)
  expect(drive.state()).toBe('patching.writing')
})

test('emptying: reloads that come faster than it settles do not put its deadline off', async () => {
  const drive = createDrive({ stored: recorded('patched'), wanted: [{ container: 'app', image: 'registry/app:v3' }] })
  await drive.answer(OUT)
  for (let passed = 0; passed < DEADLINES.drainDeadline + DELAYS.settle; passed += 500) {
    drive.send({ type: 'reloaded' })
    if (drive.calling() === 'effect') await drive.answer({ kind: 'applied' })
    await drive.pass(500)
  }
  await keepAnswering(drive, { inspect: IN }, 500)
  expect(end(drive)).toMatchObject({ value: 'failed', outcome: 'failed', deadline: 'drain' })
})

test('emptying: what it cannot know it does not wait for, once it has settled', async () => {
  const drive = await emptying()
  await drive.pass(2_000)
  await drive.answer({ ...OUT, inFlight: null })
  expect(drive.state()).toBe('patching.writing')
})

test('emptying: what its load balancer waits for itself it waits for, whatever is counted', async () => {
  const drive = await emptying()
  await drive.pass(2_000)
  for (const inFlight of [null, 0]) {
    await drive.answer({ ...OUT, inFlight, emptying: true })
    expect(drive.state()).toBe('emptying.waiting')
    await drive.pass(100)
  }
  await drive.answer(OUT)
  expect(drive.state()).toBe('patching.writing')
})

describe('emptying: not empty in time', () => {
  test('fails, and is put back', async () => {
    const drive = await emptying()
    await keepAnswering(drive, { inspect: BUSY }, DEADLINES.drainDeadline + 300)
    expect(drive.state()).toBe('readmitting.writing')
    expect(end(drive)).toMatchObject({ deadline: 'drain', reason: { code: 'not-empty', readsAsIn: false, traffic: BUSY.detail } })
  })

  test('or goes on, where that was asked for', async () => {
    const drive = createDrive({ stored: recorded('drain') }, { mayProceed: () => true })
    await drive.answer(OUT)
    await keepAnswering(drive, { inspect: BUSY }, DEADLINES.drainDeadline + 300)
    expect(drive.state()).toBe('patching.writing')
  })

  test('once: a patch that is refused again and again is given up after five tries, and the deadline not waited for anew', async () => {
    const drive = createDrive({ stored: recorded('drain') }, { mayProceed: () => true })
    await drive.answer(OUT)
    const read = { kind: 'read', seen: { pod: PODS.before, stored: recorded('drain') } }
    const answers = { inspect: BUSY, store: REJECTED, read }
    await keepAnswering(drive, answers, DEADLINES.drainDeadline)
    for (let passed = 0; passed < 10_000 && !drive.state().startsWith('readmitting'); passed += 50)
      await keepAnswering(drive, answers, 50)
    expect(drive.state()).toMatch(/^readmitting/)
    expect(end(drive)).toMatchObject({ outcome: 'failed', reason: { code: 'images-not-patched', because: REJECTED.reason } })
  })

  test('but never where it is not out', async () => {
    const drive = createDrive({ stored: recorded('drain') }, { mayProceed: () => true })
    await drive.answer(OUT)
    await keepAnswering(drive, { inspect: IN, effect: { kind: 'applied' } }, DEADLINES.drainDeadline + 3_000)
    expect(drive.state()).toBe('readmitting.writing')
    expect(end(drive).reason).toEqual({ code: 'not-empty', readsAsIn: true, traffic: IN.detail })
  })
})

describe('patching: a write that nobody answers, or with 5xx, while reads are answered', () => {
  const seen = { pod: PODS.before, stored: recorded('drain') }
  /** Answers the writes of images with "unknown", and stores the fences. */
  const fence = ({ restates, pod, record }: StoreInput): unknown =>
    restates && { kind: 'stored', seen: { pod, stored: { kind: 'read', journal: record } } }

  async function patching(guards: { mayProceed?: () => boolean } = {}): Promise<Drive> {
    const drive = createDrive({ stored: recorded('drain') }, guards)
    await drive.answer(OUT)
    await drive.pass(DELAYS.settle)
    await drive.answer(OUT)
    expect([drive.state(), drive.calling()]).toEqual(['patching.writing', 'store'])
    return drive
  }

  test('is given up after the deadline, and the pod put back', async () => {
    const drive = await patching()
    const answers = { inspect: OUT, store: UNKNOWN, read: { kind: 'read', seen } }
    await keepAnswering(drive, answers, DEADLINES.drainDeadline - 500)
    expect(drive.state()).toMatch(/^patching/)
    await keepAnswering(drive, answers, 500 + LAST_TRIES_MS)
    expect(drive.state()).toMatch(/^readmitting/)
    expect(end(drive)).toMatchObject({
      outcome: 'failed',
      deadline: 'drain',
      reason: { code: 'images-not-patched', because: UNKNOWN.reason },
    })
  })

  test('but an API server that was away for longer than that is asked again', async () => {
    const drive = await patching()
    await drive.answer(UNKNOWN)
    await keepAnswering(drive, { read: UNKNOWN }, DEADLINES.drainDeadline * 2)
    expect(drive.state()).toMatch(/^patching/)
    await keepAnswering(drive, { inspect: OUT, read: { kind: 'read', seen } }, 1_000)
    expect([drive.state(), drive.calling()]).toEqual(['patching.writing', 'store'])
    await drive.stored({ ...PODS.witness, generation: 2 })
    expect(drive.state()).toMatch(/^restarting/)
  })

  describe('and a request comes all the same before each try', () => {
    let { stored } = seen
    const answers = {
      store(input: StoreInput) {
        if (input.restates) stored = { kind: 'read', journal: input.record }
        return fence(input) ?? UNKNOWN
      },
      read: () => ({ kind: 'read', seen: { ...seen, stored } }),
    }
    beforeEach(() => void (stored = seen.stored))

    /** The first look after each write finds one request in flight, and later looks find none. */
    async function keepBusy(drive: Drive, ms: number): Promise<number> {
      let [isFirst, writes] = [true, 0]
      for (let passed = 0; passed < ms && !drive.state().startsWith('readmitting'); passed += 50) {
        if (drive.calling() === 'inspect') {
          await drive.answer(isFirst ? BUSY : OUT)
          isFirst = !isFirst
        }
        if (drive.calling() === 'store') writes += 1
        await keepAnswering(drive, answers, 50)
      }
      return writes
    }

    test('the deadline goes on: it is put back', async () => {
      const drive = await patching()
      const writes = await keepBusy(drive, DEADLINES.drainDeadline - 500)
      expect(drive.state()).not.toMatch(/^readmitting/)
      expect(writes).toBeGreaterThan(10)
      await keepBusy(drive, 500 + 5 * (DELAYS.settle + 500))
      expect(drive.state()).toMatch(/^readmitting/)
      expect(end(drive)).toMatchObject({ outcome: 'failed', deadline: 'drain' })
    })

    test('and stays: not empty in time, but it has settled and is looked at some times more', async () => {
      const drive = await patching()
      await keepAnswering(drive, { ...answers, inspect: BUSY }, DEADLINES.drainDeadline + 2 * DELAYS.settle)
      expect(drive.state()).toMatch(/^patching/)
      await keepAnswering(drive, { ...answers, inspect: BUSY }, 5 * DELAYS.settle)
      expect(drive.state()).toMatch(/^readmitting/)
      expect(end(drive)).toMatchObject({
        outcome: 'failed',
        deadline: 'drain',
        reason: { code: 'not-empty', readsAsIn: false, traffic: BUSY.detail },
      })
    })

    test('or goes on, where that was asked for', async () => {
      const drive = await patching({ mayProceed: () => true })
      await drive.answer(UNKNOWN)
      await drive.answer({ kind: 'read', seen })
      await keepAnswering(drive, { inspect: BUSY, store: fence }, DEADLINES.drainDeadline - 500)
      expect(drive.calling()).toBeUndefined()
      await keepAnswering(drive, { inspect: BUSY, store: fence }, 500 + DELAYS.settle)
      expect([drive.state(), drive.calling()]).toEqual(['patching.writing', 'store'])
    })

    test('and it is interrupted: put back at once', async () => {
      const drive = await patching()
      await keepAnswering(drive, { ...answers, inspect: BUSY }, 1_000)
      expect(drive.state()).toBe('patching.settling')
      drive.send({ type: 'interrupt' })
      await keepAnswering(drive, { inspect: BUSY }, DELAYS.settle + 500)
      expect(drive.state()).toMatch(/^readmitting/)
      expect(end(drive)).toMatchObject({ outcome: 'unchanged' })
    })
  })

  /** The read-back finds no patch, and the patch shows right before it would be sent again. */
  async function landing(pod: PodView): Promise<Drive> {
    const drive = await patching()
    await drive.answer(UNKNOWN)
    await drive.answer({ kind: 'read', seen })
    drive.send({ type: 'observed', pod, stored: recorded('patched') })
    await drive.pass(DELAYS.retry)
    await drive.answer(OUT)
    return drive
  }

  test('it lands late', async () => {
    expect((await landing(PODS.asked)).state()).toMatch(/^restarting/)
  })

  test('the same, and somebody has given the pod other images since: they are left', async () => {
    const containers = PODS.asked.containers.map((one) => ({ ...one, image: 'registry/app:v9' }))
    const drive = await landing({ ...PODS.asked, generation: 3, containers })
    expect(end(drive)).toMatchObject({
      outcome: 'failed',
      reason: { code: 'images-rewritten', images: [{ container: 'app', image: 'registry/app:v9' }] },
    })
  })
})

test('a deadline that something else has come over is not named any more', async () => {
  const drive = await emptying()
  await keepAnswering(drive, { inspect: BUSY }, DEADLINES.drainDeadline + 300)
  expect(end(drive)).toMatchObject({ deadline: 'drain' })
  await drive.stored()
  await drive.answer({ kind: 'refused', reason: said('no such server') })
  expect(end(drive)).toMatchObject({ outcome: 'needsOperator', deadline: undefined })
})

test('emptying: a load balancer that says "drained" and reads as before is called again with pauses, within one deadline', async () => {
  const drive = await emptying()
  let calls = 0
  for (let passed = 0; passed < DEADLINES.drainDeadline + 3_000 && drive.state().startsWith('emptying'); passed += 50) {
    if (drive.calling() === 'inspect') await drive.answer(IN)
    if (drive.calling() === 'effect') {
      calls += 1
      await drive.answer({ kind: 'applied' })
    }
    await drive.pass(50)
  }
  expect(drive.state()).toBe('readmitting.writing')
  expect(calls).toBeLessThan(DEADLINES.drainDeadline / 2_000)
})

test.each([
  { node: { node: 'n1' }, silent: {} },
  { node: { node: 'n1', ready: false, nodeIsSilent: true as const }, silent: { silentNode: 'n1' } },
])('restarting: a kubelet that never saw the patch is named: $silent', async ({ node, silent }) => {
  const unseen = { ...PODS.asked, ...node }
  const drive = createDrive({ stored: recorded('patched'), pod: unseen })
  await drive.answer(OUT)
  await drive.pass(DEADLINES.restartDeadline)
  const because = { code: 'kubelet-behind', node: 'n1', generation: 2, observed: 1, ...silent }
  expect(end(drive)).toMatchObject({ value: 'failed', deadline: 'restart' })
  expect(end(drive).reason).toEqual({ code: 'restart-not-proven', because })
})

test('restarting: no proof in time, which counts from when it began', async () => {
  const drive = createDrive({ stored: recorded('patched'), pod: PODS.witness })
  await drive.answer(OUT)
  await drive.pass(DEADLINES.restartDeadline - 50)
  expect(drive.state()).toBe('restarting.watching.resting')
  await drive.pass(50)
  expect(end(drive)).toEqual({
    value: 'failed',
    outcome: 'failed',
    deadline: 'restart',
    reason: { code: 'restart-not-proven', because: { code: 'container-not-replaced' } },
  })
})

test('restarting: an image that can never be started is not waited for', async () => {
  const drive = createDrive({ stored: recorded('patched'), pod: PODS.hopeless })
  await drive.answer(OUT)
  expect(end(drive)).toMatchObject({
    value: 'failed',
    reason: {
      code: 'image-cannot-start',
      because: { code: 'container-waiting', container: 'app', waiting: 'InvalidImageName' },
    },
  })
})

test('restarting: what is said of the image before the patch does not count against the one after it', async () => {
  const saidOf = (named: string, image: string, generation: number): PodView => ({
    ...PODS.hopeless,
    generation,
    observedGeneration: 2,
    containers: PODS.hopeless.containers.map((one) => ({
      ...one,
      image,
      waitingMessage: `Container image "${named}" is not present`,
    })),
  })
  const drive = createDrive({ stored: recorded('patched'), pod: saidOf(`${V2}-wrong`, `${V2}-wrong`, 2) })
  await drive.answer(OUT)
  await drive.pass(DELAYS.settle)
  await drive.answer(OUT)
  expect(drive.state()).toBe('patching.writing')
  await drive.stored(saidOf(`${V2}-wrong`, V2, 3))
  expect(drive.state()).toBe('restarting.watching.resting')
  const { stored } = drive.actor.getSnapshot().context
  drive.send({ type: 'observed', pod: { ...saidOf(V2, V2, 3), observedGeneration: 3 }, stored })
  expect(drive.state()).toBe('failed')
})

test('restarting: the witness was missed: a container that stands for the quiet time', async () => {
  const other = { ...PODS.ready, containers: PODS.ready.containers.map((one) => ({ ...one, statusImage: 'other:tag' })) }
  const restarted = createDrive({ stored: recorded('patched'), pod: other })
  await restarted.answer(OUT)
  await restarted.pass(34_950)
  expect(restarted.state()).toBe('restarting.watching.resting')
  await restarted.pass(50)
  expect(restarted.state()).toBe('warming.steady')
})

describe('restarting: no deadline is shorter than the proof that it waits for', () => {
  /** The new image has the old digest. Without a witness, only time proves the restart. */
  const QUIET_POD = { ...PODS.retagged, observedGeneration: 2 }

  /** The container starts ten seconds before the deadline. */
  async function asLate(pod: PodView, stored = recorded('patched')): Promise<Drive> {
    const drive = createDrive({ stored, pod: PODS.asked })
    await drive.answer(OUT)
    await drive.pass(DEADLINES.restartDeadline - 10_000)
    // The status between the two was not observed.
    drive.send({ type: 'observed', pod, stored })
    expect(drive.state()).toMatch(/^restarting.watching/)
    return drive
  }

  test('its new container runs, unproven, as the deadline comes: the quiet time is waited out', async () => {
    const drive = await asLate(QUIET_POD)
    await drive.pass(DELAYS.quiet - 50)
    expect(drive.state()).toBe('restarting.watching.resting')
    await drive.pass(50)
    expect(drive.state()).toBe('warming.steady')
  })

  test('but not begun anew: it crashes once more', async () => {
    const stored = recorded('patched', { generation: 0 })
    const drive = await asLate(PODS.retagged, stored)
    await drive.pass(15_000)
    const containers = PODS.retagged.containers.map((one) => ({ ...one, containerId: 'c9' }))
    drive.send({ type: 'observed', pod: { ...PODS.retagged, containers }, stored })
    expect(end(drive)).toMatchObject({ value: 'failed', outcome: 'failed', deadline: 'restart' })
  })

  test('nor is it waited for where the old container runs: the deadline is the end', async () => {
    const drive = await asLate(PODS.witness)
    await drive.pass(10_000)
    expect(end(drive)).toMatchObject({ value: 'failed', outcome: 'failed', deadline: 'restart' })
  })

  test('it is drained again past the deadline, and its load balancer cannot be read: that has an end too', async () => {
    const drive = await asLate(QUIET_POD)
    await drive.pass(15_000)
    drive.send({ type: 'reloaded' })
    await drive.answer({ kind: 'applied' })
    await drive.pass(DELAYS.retry)
    await drive.answer(UNREAD)
    expect(end(drive)).toMatchObject({ value: 'failed', outcome: 'failed', deadline: 'restart' })
  })

  test('control: with a witness there is nothing to wait for', async () => {
    const drive = createDrive({ stored: recorded('patched'), pod: PODS.witness })
    await drive.answer(OUT)
    drive.send({ type: 'observed', pod: QUIET_POD, stored: recorded('patched') })
    expect(drive.state()).toBe('warming.steady')
  })
})

describe('restarting: a kubelet that reports no generation, and the digest of before under a new tag', () => {
  const STARTED = PODS.retagged.containers[0]!.startedAt!
  const pulled = (image: string, at = STARTED) => ({ kind: 'read', pulls: [{ container: 'app', image, at }] })

  async function restarted(): Promise<Drive> {
    const drive = createDrive({ stored: recorded('patched', { generation: 0 }), pod: PODS.retagged })
    await drive.answer(OUT)
    expect([drive.state(), drive.calling()]).toEqual(['restarting.watching.asking', 'pulls'])
    return drive
  }
  const proof = (drive: Drive): unknown => {
    const { restart } = drive.actor.getSnapshot().context
    return restart && restartProof(restart)
  }

  test('its Event that it took the image for this container is the proof, at once', async () => {
    const drive = await restarted()
    await drive.answer(pulled(V2))
    expect([drive.state(), proof(drive)]).toEqual(['warming.steady', 'event'])
  })

  test('an Event that comes late is asked for again', async () => {
    const drive = await restarted()
    await drive.answer({ kind: 'read', pulls: [] })
    await drive.pass(DELAYS.retry)
    await drive.answer(pulled(V2))
    expect(proof(drive)).toBe('event')
  })

  test.each([
    ['there is none', { kind: 'read', pulls: [] }],
    ['it is of the image before', pulled(V1)],
    ['nobody answers, or the right is missing', UNKNOWN],
  ])('%s: time proves it, counted from the start of the container', async (_what, answer) => {
    const drive = await restarted()
    for (let passed = 0; passed < DELAYS.quiet - 50; passed += 50) {
      if (drive.calling() === 'pulls') await drive.answer(answer)
      await drive.pass(50)
    }
    expect(drive.state()).toMatch(/^restarting.watching/)
    await drive.pass(50)
    expect([drive.state(), proof(drive)]).toEqual(['warming.steady', 'quiet'])
  })
})

test('warming: a container that was started anew is looked at anew, also where nothing was seen between the two', async () => {
  const drive = createDrive({ stored: recorded('patched'), pod: PODS.witness })
  await drive.answer(OUT)
  drive.send({ type: 'observed', pod: PODS.ready, stored: recorded('patched') })
  await drive.pass(DELAYS.readyFor - 50)
  const again = {
    ...PODS.ready,
    containers: PODS.ready.containers.map((one) => ({ ...one, containerId: 'c3', restartCount: 1 })),
  }
  drive.send({ type: 'observed', pod: again, stored: recorded('patched') })
  await drive.pass(DELAYS.readyFor - 50)
  expect(drive.state()).toBe('warming.steady')
  await drive.pass(50)
  expect(drive.state()).toBe('restoring.writing')
})

test('warming: ready for readyFor without a break', async () => {
  const drive = createDrive({ stored: recorded('patched'), pod: PODS.witness })
  await drive.answer(OUT)
  drive.send({ type: 'observed', pod: PODS.ready, stored: recorded('patched') })
  expect(drive.state()).toBe('warming.steady')
  await drive.pass(4_950)
  drive.send({ type: 'observed', pod: PODS.started, stored: recorded('patched') })
  drive.send({ type: 'observed', pod: PODS.ready, stored: recorded('patched') })
  await drive.pass(4_950)
  expect(drive.state()).toBe('warming.steady')
  await drive.pass(50)
  expect(drive.state()).toBe('restoring.writing')
})

describe('warming: one that is ready as its deadline comes has its readyFor', () => {
  async function readyAtTheDeadline(): Promise<Drive> {
    const drive = createDrive({ stored: recorded('patched'), pod: PODS.witness })
    await drive.answer(OUT)
    drive.send({ type: 'observed', pod: PODS.started, stored: recorded('patched') })
    await drive.pass(DEADLINES.readyDeadline - 100)
    drive.send({ type: 'observed', pod: PODS.ready, stored: recorded('patched') })
    await drive.pass(DELAYS.readyFor - 50)
    expect(drive.state()).toBe('warming.steady')
    return drive
  }

  test('and is put back', async () => {
    const drive = await readyAtTheDeadline()
    await drive.pass(50)
    expect(drive.state()).toBe('restoring.writing')
  })

  test('control: one that does not stay so has failed', async () => {
    const drive = await readyAtTheDeadline()
    drive.send({ type: 'observed', pod: PODS.started, stored: recorded('patched') })
    expect(end(drive)).toMatchObject({ value: 'failed', deadline: 'ready' })
  })

  test('so has one that was started anew, and is ready again', async () => {
    const drive = await readyAtTheDeadline()
    const containers = PODS.ready.containers.map((one) => ({ ...one, containerId: 'c3', restartCount: 1 }))
    drive.send({ type: 'observed', pod: { ...PODS.ready, containers }, stored: recorded('patched') })
    expect(end(drive)).toMatchObject({ value: 'failed', deadline: 'ready', reason: JUST_READY })
  })

  test('so has one that had to be drained again since', async () => {
    const drive = await readyAtTheDeadline()
    drive.send({ type: 'reloaded' })
    await drive.answer({ kind: 'applied' })
    await drive.pass(DELAYS.retry)
    await drive.answer(OUT)
    expect(end(drive)).toMatchObject({ value: 'failed', deadline: 'ready', reason: JUST_READY })
  })
})

describe('warming: an endpoint that says no', () => {
  const NO = { source: 'web', unready: ['web-x7k2p'], followsReady: true }

  async function warm(endpoints: string[]): Promise<Drive> {
    const stored = recorded('patched', { endpoints })
    const drive = createDrive({ stored, pod: PODS.witness })
    await drive.answer(OUT)
    drive.send({ type: 'endpoints', endpoints: [NO] })
    drive.send({ type: 'observed', pod: PODS.ready, stored })
    return drive
  }

  test('where it was there before, it has to be back, and its slice is named', async () => {
    const drive = await warm(['web'])
    expect(drive.state()).toBe('warming.waiting')
    await drive.pass(DEADLINES.readyDeadline)
    expect(end(drive)).toEqual({
      value: 'failed',
      outcome: 'failed',
      deadline: 'ready',
      reason: { code: 'not-ready-in-time', because: { code: 'endpoints-not-back', slices: ['web-x7k2p'] } },
    })
  })

  test('where it was not, it holds up no pod', async () => {
    const drive = await warm(['other'])
    await drive.pass(DELAYS.readyFor)
    expect(drive.state()).toBe('restoring.writing')
  })
})

test('warming: somebody else changes the images: what is ready now is about to go', async () => {
  const drive = createDrive({ stored: recorded('patched'), pod: PODS.witness })
  await drive.answer(OUT)
  drive.send({ type: 'observed', pod: PODS.ready, stored: recorded('patched') })
  const changed = {
    ...PODS.ready,
    generation: 3,
    containers: PODS.ready.containers.map((one) => ({ ...one, image: 'registry/app:v9' })),
  }
  drive.send({ type: 'observed', pod: changed, stored: recorded('patched') })
  expect(drive.state()).toBe('warming.waiting')
  await drive.pass(DEADLINES.readyDeadline)
  expect(end(drive)).toMatchObject({
    deadline: 'ready',
    reason: { code: 'not-ready-in-time', because: { code: 'images-changed' } },
  })
})

describe('somebody else changes the images, and takes that back', () => {
  const AGAIN = { ...PODS.ready, generation: 4 }
  const GIVEN = (of: PodView): PodView => ({
    ...of,
    generation: 3,
    containers: of.containers.map((one) => ({ ...one, image: 'registry/app:v9' })),
  })
  const OTHER = (observedGeneration: number): PodView => ({
    ...AGAIN,
    observedGeneration,
    containers: AGAIN.containers.map((one) => ({
      ...one,
      containerId: 'c9',
      imageId: 'sha256:v9',
      statusImage: 'registry/app:v9',
    })),
  })

  test('while it restarts: what was started from his is about to be replaced', async () => {
    const drive = createDrive({ stored: recorded('patched'), pod: PODS.witness })
    await drive.answer(OUT)
    drive.send({ type: 'observed', pod: GIVEN(PODS.witness), stored: recorded('patched') })
    drive.send({ type: 'observed', pod: OTHER(3), stored: recorded('patched') })
    drive.send({ type: 'observed', pod: OTHER(4), stored: recorded('patched') })
    await drive.pass(DELAYS.readyFor)
    expect(drive.state()).toBe('restarting.watching.resting')
    const ours = {
      ...AGAIN,
      observedGeneration: 4,
      containers: PODS.ready.containers.map((one) => ({ ...one, containerId: 'c10' })),
    }
    drive.send({ type: 'observed', pod: ours, stored: recorded('patched') })
    await drive.pass(DELAYS.readyFor)
    expect(drive.state()).toBe('restoring.writing')
  })

  test('or something else of its spec, and the kubelet has nothing to replace: proven again, by a weaker proof', async () => {
    const drive = createDrive({ stored: recorded('patched'), pod: PODS.witness })
    await drive.answer(OUT)
    drive.send({ type: 'observed', pod: PODS.ready, stored: recorded('patched') })
    drive.send({ type: 'observed', pod: { ...PODS.ready, generation: 3 }, stored: recorded('patched') })
    expect(drive.state()).toBe('restarting.watching.resting')
    drive.send({ type: 'observed', pod: { ...PODS.ready, generation: 3, observedGeneration: 3 }, stored: recorded('patched') })
    expect(drive.state()).toBe('warming.steady')
  })

  test('while it warms: ready again only once the kubelet has seen that, and runs ours', async () => {
    const drive = createDrive({ stored: recorded('patched'), pod: PODS.witness })
    await drive.answer(OUT)
    drive.send({ type: 'observed', pod: PODS.ready, stored: recorded('patched') })
    drive.send({ type: 'observed', pod: GIVEN(PODS.ready), stored: recorded('patched') })
    expect(drive.state()).toBe('warming.waiting')
    drive.send({ type: 'observed', pod: { ...AGAIN, observedGeneration: 3 }, stored: recorded('patched') })
    await drive.pass(DELAYS.readyFor)
    expect(drive.state()).toBe('restarting.watching.resting')
    drive.send({ type: 'observed', pod: OTHER(4), stored: recorded('patched') })
    await drive.pass(DELAYS.readyFor)
    expect(drive.state()).toBe('restarting.watching.resting')
  })
})

describe('warming: ready for readyFor in time, and a call that may still arrive is waited out past the deadline', () => {
  async function waitingOut(): Promise<Drive> {
    const drive = createDrive({ stored: recorded('patched'), pod: PODS.witness })
    await drive.answer(IN)
    await drive.answer({ kind: 'applied', lateCall: true })
    await drive.pass(DELAYS.retry)
    await drive.answer(OUT)
    drive.send({ type: 'observed', pod: PODS.started, stored: recorded('patched') })
    await drive.pass(DEADLINES.readyDeadline - DELAYS.readyFor - 100)
    drive.send({ type: 'observed', pod: PODS.ready, stored: recorded('patched') })
    await drive.pass(DELAYS.readyFor + 200)
    expect(drive.state()).toBe('warming.waitingOut')
    return drive
  }

  test('it is put back', async () => {
    const drive = await waitingOut()
    await drive.pass(DELAYS.lateArrival)
    expect(drive.state()).toBe('restoring.writing')
  })

  test('but where it was started anew: there is no time left', async () => {
    const drive = await waitingOut()
    const containers = PODS.ready.containers.map((one) => ({ ...one, containerId: 'c3', restartCount: 1 }))
    drive.send({ type: 'observed', pod: { ...PODS.ready, containers }, stored: recorded('patched') })
    expect(end(drive)).toMatchObject({ value: 'failed', deadline: 'ready' })
  })

  test('nor where it is not ready any more', async () => {
    const drive = await waitingOut()
    drive.send({ type: 'observed', pod: PODS.started, stored: recorded('patched') })
    expect(end(drive)).toMatchObject({
      value: 'failed',
      deadline: 'ready',
      reason: { code: 'not-ready-in-time', because: { code: 'containers-not-ready', containers: [{ name: 'app' }] } },
    })
  })
})

test('a reload while it restarts: drained again, as the same operation, with pauses', async () => {
  const drive = createDrive({ stored: recorded('patched'), pod: PODS.witness })
  await drive.answer(OUT)
  drive.send({ type: 'reloaded' })
  expect([drive.state(), drive.calling()]).toEqual(['restarting.redraining', 'effect'])
  await drive.answer({ kind: 'retryable', reason: said('throttled') })
  expect([drive.state(), drive.calling()]).toEqual(['restarting.waiting', undefined])
  await drive.pass(250)
  await drive.answer(OUT)
  expect(drive.state()).toBe('restarting.watching.resting')
})

test('a reload while another load balancer is still asked whether the pod is out: drained again at once', async () => {
  const drive = createDrive({ stored: recorded('patched'), pod: PODS.witness })
  expect([drive.state(), drive.calling()]).toEqual(['restarting.confirming', 'inspect'])
  drive.send({ type: 'reloaded' })
  expect([drive.state(), drive.calling()]).toEqual(['restarting.redraining', 'effect'])
})

test('restoring: not confirmed in time is for a person', async () => {
  const drive = createDrive({ stored: recorded('restore'), pod: PODS.ready })
  await keepAnswering(drive, { inspect: OUT, effect: UNKNOWN }, DEADLINES.restoreDeadline + 500)
  expect(end(drive)).toEqual({
    value: 'needsOperator',
    outcome: 'needsOperator',
    deadline: 'restore',
    reason: { code: 'restore-not-confirmed', because: UNKNOWN.reason },
  })
})

test('restoring: what could not be read in time says why, where no call was tried', async () => {
  const drive = createDrive({ stored: recorded('restore'), pod: PODS.ready })
  await keepAnswering(drive, { inspect: UNREAD }, DEADLINES.restoreDeadline + 500)
  const reason = { code: 'restore-not-confirmed', because: UNREAD.detail }
  expect(end(drive)).toMatchObject({ value: 'needsOperator', deadline: 'restore', reason })
})

describe('restoring: the intent is stored, and the pod is not ready', () => {
  async function waiting(): Promise<Drive> {
    const drive = createDrive({ stored: recorded('restore'), pod: PODS.started })
    await keepAnswering(drive, { inspect: OUT }, DEADLINES.restoreDeadline - 500)
    expect(drive.state()).toMatch(/^restoring/)
    return drive
  }

  test('in time: a person is told that', async () => {
    const drive = await waiting()
    await keepAnswering(drive, { inspect: OUT }, 1_000)
    expect(end(drive)).toMatchObject({
      value: 'needsOperator',
      deadline: 'restore',
      reason: { code: 'not-fit-for-restore', traffic: OUT.detail },
    })
  })

  test('and is deleted meanwhile: what comes in its place decides, also past the deadline', async () => {
    const drive = await waiting()
    while (drive.calling() !== 'inspect') await drive.pass(50)
    drive.send({ type: 'gone' })
    await drive.pass(1_000)
    await drive.answer(OUT)
    expect(drive.state()).toMatch(/^settling/)
  })
})

test.each([
  { now: 'by its digest, whatever name the status gives', imageId: 'registry/app@sha256:v2', isFit: true },
  { now: 'by its digest, and another runs', imageId: 'registry/app@sha256:v9', isFit: false },
])('restoring: its spec has changed since, and its image is asked for $now', async ({ imageId, isFit }) => {
  const image = 'registry/app@sha256:v2'
  const pod: PodView = {
    ...PODS.ready,
    generation: 3,
    observedGeneration: 3,
    containers: PODS.ready.containers.map((one) => ({ ...one, image, statusImage: 'registry/app:latest', imageId })),
  }
  const drive = createDrive({ stored: recorded('restore'), pod, wanted: [{ container: 'app', image }] })
  await drive.answer(OUT)
  expect(drive.state()).toBe(isFit ? 'restoring.calling' : 'restoring.waiting')
})

test('verifying: what reads back as something else is restored again, and in the end for a person', async () => {
  const drive = createDrive({ stored: recorded('restore'), pod: PODS.ready })
  await drive.answer(IN)
  const seen: string[] = []
  for (let round = 0; round < 40 && drive.actor.getSnapshot().status === 'active'; round++) {
    const port = drive.calling()
    if (port) seen.push(port)
    if (port === 'compare') await drive.answer({ kind: 'different', reason: said('weight 5, it was 1') })
    else if (port === 'effect') await drive.answer({ kind: 'applied' })
    else await drive.pass(50)
  }
  expect(seen).toEqual(['compare', 'effect', 'compare', 'effect', 'compare'])
  expect(end(drive)).toMatchObject({
    value: 'needsOperator',
    reason: { code: 'restored-differently', because: said('weight 5, it was 1') },
  })
})

describe('verifying: what is drained still is waited for', () => {
  const drained = { kind: 'different', reason: said('drain, it was ready'), drained: true }

  async function verifying(): Promise<Drive> {
    const drive = createDrive({ stored: recorded('restore'), pod: PODS.ready })
    await drive.answer(IN)
    expect(drive.state()).toBe('verifying.comparing')
    return drive
  }

  test('and restored again meanwhile: the pod is home once it is back', async () => {
    const drive = await verifying()
    await keepAnswering(drive, { compare: drained, effect: { kind: 'applied' } }, DEADLINES.restoreDeadline - 1_000)
    expect(drive.state()).toMatch(/^verifying/)
    await keepAnswering(drive, { compare: { kind: 'equal' }, effect: { kind: 'applied' } }, 500)
    expect(drive.state()).toMatch(/^closing/)
  })

  test('once in each pause, until the restore deadline: then it is for a person', async () => {
    const drive = await verifying()
    const restores: string[] = []
    for (let passed = 0; passed < DEADLINES.restoreDeadline + 500; passed += 50) {
      if (drive.calling() === 'compare') await drive.answer(drained)
      if (drive.calling() === 'effect') {
        restores.push((drive.input() as EffectInput).effect)
        await drive.answer({ kind: 'applied' })
      }
      await drive.pass(50)
    }
    expect(new Set(restores)).toEqual(new Set(['restore']))
    expect(restores.length).toBeLessThanOrEqual(DEADLINES.restoreDeadline / DELAYS.retry)
    expect(end(drive)).toMatchObject({
      value: 'needsOperator',
      deadline: 'restore',
      reason: { code: 'restore-not-confirmed', because: drained.reason },
    })
  })

  test('and what it comes back as counts from then on', async () => {
    const drive = await verifying()
    await keepAnswering(drive, { compare: drained, effect: { kind: 'applied' } }, 5_000)
    const otherwise = { kind: 'different', reason: said('weight 5, it was 1') }
    await keepAnswering(drive, { compare: otherwise, effect: { kind: 'applied' } }, 2_000)
    expect(end(drive)).toMatchObject({
      value: 'needsOperator',
      reason: { code: 'restored-differently', because: otherwise.reason },
    })
  })
})

test('verifying: what differs where no restore has left is no sign that it came back as something else', async () => {
  const drive = createDrive({ stored: recorded('restore'), pod: PODS.ready })
  await drive.answer(IN)
  const different = { kind: 'different', reason: said('out, it was ready') }
  await keepAnswering(
    drive,
    { compare: different, effect: { kind: 'retryable', reason: said('web-0 is not ready any more') } },
    10_000,
  )
  expect(drive.state()).toMatch(/^verifying/)
  await keepAnswering(drive, { compare: different, effect: UNKNOWN }, DEADLINES.restoreDeadline)
  expect(end(drive)).toMatchObject({ value: 'needsOperator', deadline: 'restore' })
})

test('verifying: what is not known after a difference is read again, and not restored again', async () => {
  const drive = createDrive({ stored: recorded('restore'), pod: PODS.ready })
  await drive.answer(IN)
  await drive.answer({ kind: 'different', reason: said('weight 5, it was 1') })
  await drive.pass(DELAYS.retry)
  await drive.answer({ kind: 'applied' })
  const seen: string[] = []
  for (let round = 0; round < 10; round++) {
    const port = drive.calling()
    if (port) seen.push(port)
    if (port === 'compare') await drive.answer({ kind: 'unknown', reason: said('it may be from before the restore') })
    else await drive.pass(50)
  }
  expect(new Set(seen)).toEqual(new Set(['compare']))
})

test('readmitting: not ready in time, it stays out', async () => {
  const unready = { ...PODS.before, ready: false }
  const drive = createDrive({ stored: recorded('drain'), pod: unready })
  drive.send({ type: 'interrupt' })
  await drive.answer(IN)
  expect(drive.state()).toBe('readmitting.waitingReady')
  await drive.pass(DEADLINES.restoreDeadline)
  expect(end(drive)).toMatchObject({ value: 'failed', outcome: 'failed', deadline: 'restore' })
})

describe('the deadline of the calls begins with the intent, however long the wait before it was', () => {
  const BUSY_NOW = { kind: 'retryable', reason: said('busy') }

  /** Refuses the calls for now until just before the deadline, and then applies one. Returns the state after that. */
  async function doneLate(drive: Drive): Promise<string> {
    expect(drive.calling()).toBe('effect')
    await keepAnswering(drive, { inspect: OUT, effect: BUSY_NOW }, DEADLINES.restoreDeadline - 500)
    await keepAnswering(drive, { inspect: OUT, effect: { kind: 'applied' } }, 400)
    return drive.state()
  }

  async function readmitting(pod: PodView): Promise<Drive> {
    const drive = createDrive({ stored: recorded('drain'), pod })
    drive.send({ type: 'interrupt' })
    await drive.answer(OUT)
    await drive.pass(DELAYS.settle)
    await drive.answer(OUT)
    expect(drive.state()).toMatch(/^readmitting/)
    return drive
  }

  /** The pod is not ready, and then has an image with several names, until the whole deadline is over. */
  async function readmittedLate(): Promise<Drive> {
    const containers = PODS.before.containers.map((one) => ({ ...one, statusImage: 'other:name' }))
    const named = { ...PODS.before, generation: 2, observedGeneration: 2, containers }
    const drive = await readmitting({ ...named, ready: false })
    await drive.pass(DEADLINES.restoreDeadline - 5_000)
    drive.send({ type: 'observed', pod: named, stored: recorded('drain') })
    expect(drive.state()).toBe('readmitting.quieting')
    await drive.pass(DELAYS.quiet)
    expect([drive.state(), drive.calling()]).toEqual(['readmitting.writing', 'store'])
    await drive.stored()
    return drive
  }

  test('readmitting', async () => {
    expect(await doneLate(await readmittedLate())).toBe('verifying.comparing')
  })

  test('readmitting: but it has an end', async () => {
    const drive = await readmittedLate()
    await keepAnswering(drive, { inspect: OUT, effect: BUSY_NOW }, DEADLINES.restoreDeadline + 1_500)
    expect(end(drive)).toMatchObject({
      value: 'needsOperator',
      deadline: 'restore',
      reason: { code: 'restore-not-confirmed', because: BUSY_NOW.reason },
    })
  })

  test('restoring, where the API server was away', async () => {
    const drive = await restoring()
    await drive.pass(DEADLINES.restoreDeadline + 1_000)
    await drive.stored()
    expect(await doneLate(drive)).toBe('verifying.comparing')
  })
})

test('a write that is refused again and again is made anew five times, with pauses', async () => {
  const drive = createDrive()
  drive.send({ type: 'start' })
  await drive.answer({ kind: 'taken', targets: [TARGET], address: '10.0.0.1' })
  await drive.answer({ kind: 'stored' })
  let writes = 0
  for (let round = 0; round < 100 && drive.state().startsWith('draining'); round++) {
    if (drive.calling() === 'store') {
      writes += 1
      await drive.answer(REJECTED)
    } else if (drive.calling() === 'read')
      await drive.answer({ kind: 'read', seen: { pod: PODS.before, stored: { kind: 'none' } } })
    else await drive.pass(50)
  }
  expect(writes).toBe(5)
  expect(drive.state()).toBe('closing.writing')
  await drive.stored()
  expect(end(drive)).toMatchObject({
    value: 'done',
    outcome: 'failed',
    reason: { code: 'drain-intent-not-written', because: REJECTED.reason },
  })
})

test('reads that succeed and writes that do not: no hot loop', async () => {
  const drive = createDrive({ stored: recorded('drain') })
  await drive.answer(OUT)
  await drive.pass(2_000)
  await drive.answer(OUT)
  let writes = 0
  const forMs = 10_000
  for (let passed = 0; passed < forMs; passed += 50) {
    if (drive.calling() === 'store') {
      writes += 1
      await drive.answer(UNKNOWN)
    }
    if (drive.calling() === 'read') await drive.answer({ kind: 'read', seen: { pod: PODS.before, stored: recorded('drain') } })
    await drive.pass(50)
  }
  expect(drive.state()).toMatch(/^patching/)
  expect(writes).toBeLessThanOrEqual(forMs / 250 + 1)
})

test('draining: an intent that is never known to be stored is given up in time, and kept out by a closed journal', async () => {
  const drive = createDrive()
  drive.send({ type: 'start' })
  await drive.answer({ kind: 'taken', targets: [TARGET], address: '10.0.0.1' })
  await drive.answer({ kind: 'stored' })
  const unstored = { kind: 'read', seen: { pod: PODS.before, stored: { kind: 'none' } } }
  for (let passed = 0; passed < DEADLINES.drainDeadline + LAST_TRIES_MS && drive.state().startsWith('draining'); passed += 50) {
    if (drive.calling() === 'store') await drive.answer(UNKNOWN)
    if (drive.calling() === 'read') await drive.answer(unstored)
    await drive.pass(50)
  }
  expect(drive.state()).toBe('closing.writing')
  await drive.stored()
  expect(end(drive)).toMatchObject({ value: 'done', outcome: 'failed', deadline: 'drain' })
})

test('restoring: an intent that is never known to be stored is for a person in the end', async () => {
  const drive = await restoring()
  const read = { kind: 'read', seen: { pod: PODS.ready, stored: recorded('patched') } }
  await keepAnswering(drive, { store: UNKNOWN, read }, DEADLINES.restoreDeadline + LAST_TRIES_MS)
  expect(end(drive)).toMatchObject({
    value: 'needsOperator',
    deadline: 'restore',
    reason: { code: 'restore-intent-not-written' },
  })
})

test('restoring: without the right to write or to read it is for a person in the end, and not held out for ever', async () => {
  const drive = await restoring()
  const forbidden = { kind: 'refused', reason: said('pods "web-0" is forbidden') }
  await keepAnswering(drive, { store: UNKNOWN, read: forbidden }, DEADLINES.restoreDeadline - 1_000)
  expect(drive.state()).toMatch(/^restoring/)
  await keepAnswering(drive, { store: UNKNOWN, read: forbidden }, 1_000 + LAST_TRIES_MS)
  expect(end(drive)).toMatchObject({
    value: 'needsOperator',
    deadline: 'restore',
    reason: { code: 'restore-intent-not-written', because: forbidden.reason },
  })
})

test('restoring: rights that are given back in time are used', async () => {
  const drive = await restoring()
  const forbidden = { kind: 'refused', reason: said('forbidden') }
  await keepAnswering(drive, { store: REJECTED, read: forbidden }, DEADLINES.restoreDeadline - 1_000)
  await keepAnswering(drive, { read: { kind: 'read', seen: { pod: PODS.ready, stored: recorded('patched') } } }, 1_000)
  expect([drive.state(), drive.calling()]).toEqual(['restoring.writing', 'store'])
})

test('verifying: what cannot be compared in time is for a person', async () => {
  const drive = createDrive({ stored: recorded('restore'), pod: PODS.ready })
  await drive.answer(IN)
  expect(drive.state()).toBe('verifying.comparing')
  await keepAnswering(drive, { compare: UNKNOWN }, DEADLINES.restoreDeadline + 500)
  expect(end(drive)).toMatchObject({
    value: 'needsOperator',
    deadline: 'restore',
    reason: { code: 'restore-not-confirmed' },
  })
})

test('closing: a late call that cannot be ruled out in time is for a person', async () => {
  const drive = createDrive({ stored: recorded('restore'), pod: PODS.ready })
  await drive.answer(OUT)
  await drive.answer({ kind: 'applied', lateCall: true })
  await drive.answer({ kind: 'equal' })
  expect(drive.state()).toBe('closing.waitingOut')
  await keepAnswering(drive, { inspect: UNREAD }, DEADLINES.restoreDeadline + 1_000)
  expect(end(drive)).toMatchObject({ value: 'needsOperator', deadline: 'restore' })
})

test('closing: a write that is never known to be stored is told, and left to the same command', async () => {
  const drive = createDrive({ stored: recorded('restore'), pod: PODS.ready })
  await drive.answer(IN)
  await drive.answer({ kind: 'equal' })
  expect(drive.state()).toBe('closing.writing')
  const read = { kind: 'read', seen: { pod: PODS.ready, stored: recorded('restore') } }
  await keepAnswering(drive, { store: UNKNOWN, read }, DEADLINES.restoreDeadline + LAST_TRIES_MS)
  expect(end(drive)).toMatchObject({
    value: 'done',
    outcome: 'failed',
    reason: { code: 'journal-not-closed' },
  })
})

describe('settling', () => {
  test('nothing ready comes in its place in time', async () => {
    const drive = createDrive({ gone: true, targets: [TARGET] })
    await drive.answer(OUT)
    expect(drive.state()).toBe('settling.awaiting')
    await drive.pass(DEADLINES.readyDeadline)
    expect(end(drive)).toMatchObject({
      value: 'needsOperator',
      deadline: 'ready',
      reason: { code: 'no-replacement-in-time', pod: 'web-0', entries: [{ loadBalancer: 'edge', target: 'web-0' }] },
    })
  })

  test('its restore cannot be confirmed in time', async () => {
    const drive = createDrive({ gone: true, targets: [TARGET] })
    await drive.answer(OUT)
    drive.send({
      type: 'heir',
      heir: { pod: { ...PODS.ready, uid: 'heir' }, sameAddress: true, isDrained: false, isReady: true },
      expected: true,
    })
    await drive.answer({ kind: 'stored' })
    expect(drive.state()).toBe('settling.restoring.calling')
    await keepAnswering(drive, { effect: UNKNOWN, compare: UNKNOWN }, DEADLINES.restoreDeadline + 1_000)
    expect(end(drive)).toMatchObject({ value: 'needsOperator', deadline: 'restore' })
  })

  const heir = { pod: { ...PODS.ready, uid: 'heir', name: 'web-0' }, sameAddress: true, isDrained: false, isReady: true }

  describe('where the ledger cannot be written any more', () => {
    const LAST_MS = DEADLINES.settleDeadline + LAST_TRIES_MS
    const refused = { kind: 'unknown', reason: said('configmaps "sluice-run" is forbidden') }
    const untold = { because: refused.reason }

    test('what is in rotation is settled all the same', async () => {
      const drive = createDrive({ gone: true, targets: [TARGET] })
      await keepAnswering(drive, { inspect: IN, settle: refused }, DEADLINES.settleDeadline)
      expect(drive.state()).toMatch(/^settling.closing/)
      await keepAnswering(drive, { settle: refused }, LAST_TRIES_MS)
      expect(end(drive)).toMatchObject({ value: 'done', outcome: 'settled', reason: { untold } })
    })

    test('what nothing replaces stays out, and is no failure', async () => {
      const drive = createDrive({ gone: true, targets: [TARGET] })
      await drive.answer(OUT)
      drive.send({ type: 'heir', heir: null, expected: false })
      await keepAnswering(drive, { settle: refused }, LAST_MS)
      expect(end(drive)).toMatchObject({ value: 'done', outcome: 'settled', reason: { untold } })
    })

    test('what has come back elsewhere is for a person', async () => {
      const drive = createDrive({ gone: true, targets: [TARGET] })
      await drive.answer(OUT)
      drive.send({ type: 'heir', heir: { ...heir, sameAddress: false }, expected: true })
      await keepAnswering(drive, { relocate: { kind: 'elsewhere', reason: said('not there') }, settle: refused }, LAST_MS)
      expect(end(drive)).toMatchObject({ value: 'needsOperator', reason: { code: 'abandoned' } })
    })

    test('what has come in its place is not put back without an intent', async () => {
      const drive = createDrive({ gone: true, targets: [TARGET] })
      await drive.answer(OUT)
      drive.send({ type: 'heir', heir, expected: true })
      await keepAnswering(drive, { inspect: OUT, settle: refused }, LAST_MS)
      expect(end(drive)).toMatchObject({
        value: 'needsOperator',
        deadline: 'restore',
        reason: { code: 'restore-intent-not-written', because: refused.reason },
      })
    })

    test('an evicted pod keeps its journal, for the next run', async () => {
      const drive = createDrive({ stored: recorded('drain'), pod: { ...PODS.before, finished: true } })
      await keepAnswering(drive, { inspect: IN, settle: refused }, LAST_MS)
      expect(end(drive)).toMatchObject({ value: 'done', outcome: 'settled', reason: { untold } })
    })
  })

  test('a restore that is left because the pod is not ready any more ends with the whole', async () => {
    const drive = createDrive({ gone: true, targets: [TARGET] })
    await drive.answer(OUT)
    await drive.pass(DEADLINES.readyDeadline - 1_000)
    drive.send({ type: 'heir', heir, expected: true })
    // The deadline of the whole settlement ends while the intent is being written.
    await drive.pass(DEADLINES.restoreDeadline + 2_000)
    await drive.answer({ kind: 'stored' })
    expect(drive.state()).toBe('settling.restoring.calling')
    drive.send({ type: 'heir', heir: { ...heir, pod: { ...heir.pod, ready: false } }, expected: true })
    await drive.answer({ kind: 'applied' })
    await keepAnswering(
      drive,
      { compare: { kind: 'different', reason: said('maint') }, inspect: UNREAD },
      DEADLINES.restoreDeadline,
    )
    expect(end(drive)).toMatchObject({ value: 'needsOperator', deadline: 'restore' })
  })
})

test('what a person has said of the drain is kept until the restore, and says nothing of that', async () => {
  const told = { ...TARGET, said: 'out' as const }
  const word = recorded('patched', { targets: [told] })
  const drive = createDrive({ stored: word, pod: PODS.witness })
  expect(drive.input()).toMatchObject({ targets: [told] })
  await drive.answer(OUT)
  drive.send({ type: 'observed', pod: PODS.ready, stored: word })
  await drive.pass(5_000)
  expect((drive.input() as StoreInput).record).toMatchObject({ step: 'restore', targets: [TARGET] })
  expect((drive.input() as StoreInput).record.targets[0]).not.toHaveProperty('said')
})

describe('where a failed pod is rolled back', () => {
  const rollsBack = { rollsBack: () => true }
  const patchedBack = { ...PODS.back, ready: false }

  async function rollingBack(): Promise<Drive> {
    const drive = createDrive({ stored: recorded('patched'), pod: PODS.witness }, rollsBack)
    await drive.answer(OUT)
    await drive.pass(DEADLINES.restartDeadline)
    await drive.answer(OUT)
    expect([drive.state(), drive.calling()]).toEqual(['rollingBack.writing', 'store'])
    return drive
  }

  test('the restart deadline is the reason, and the patch names what it goes back to', async () => {
    const drive = await rollingBack()
    expect(drive.input()).toMatchObject({
      wanted: [{ container: 'app', image: V1 }],
      record: { step: 'patched', rollback: [{ container: 'app', image: V1 }], generation: 3, attempt: 1 },
    })
    await drive.stored(patchedBack)
    expect(drive.state()).toBe('restarting.watching.resting')
    const now = drive.actor.getSnapshot().context.stored
    drive.send({ type: 'observed', pod: PODS.backSeen, stored: now })
    drive.send({ type: 'observed', pod: PODS.backReady, stored: now })
    await drive.pass(5_000)
    await drive.stored(PODS.backReady)
    await drive.answer({ kind: 'applied' })
    await drive.answer({ kind: 'equal' })
    await drive.stored(PODS.backReady)
    expect(end(drive)).toEqual({
      value: 'done',
      outcome: 'rolledBack',
      deadline: 'restart',
      reason: { code: 'restart-not-proven', because: { code: 'container-not-replaced' } },
    })
  })

  test('what has been proven is not rolled back where a load balancer cannot say in time that it is out', async () => {
    const drive = createDrive({ stored: recorded('patched'), pod: PODS.witness }, rollsBack)
    await drive.answer(OUT)
    drive.send({ type: 'observed', pod: PODS.ready, stored: recorded('patched') })
    drive.send({ type: 'reloaded' })
    await keepAnswering(drive, { effect: UNKNOWN, inspect: UNREAD }, DEADLINES.restartDeadline)
    expect(end(drive)).toEqual({
      value: 'failed',
      outcome: 'failed',
      deadline: 'restart',
      reason: { code: 'not-read-as-out', traffic: UNREAD.detail },
    })
  })

  test('what is not proven is rolled back only where it reads as out', async () => {
    const drive = createDrive({ stored: recorded('patched'), pod: PODS.witness }, rollsBack)
    await drive.answer(OUT)
    drive.send({ type: 'reloaded' })
    await keepAnswering(drive, { effect: UNKNOWN, inspect: IN }, DEADLINES.restartDeadline + 1_000)
    expect(drive.state()).toMatch(/^rollingBack/)
    expect(drive.calling()).not.toBe('store')
    await keepAnswering(drive, { inspect: OUT }, 500)
    expect(drive.state()).toBe('rollingBack.settling')
    await drive.pass(DELAYS.settle)
    await drive.answer({ ...OUT, inFlight: 2 })
    expect(drive.state()).toBe('rollingBack.waiting')
    await drive.pass(DELAYS.poll)
    await drive.answer(OUT)
    expect([drive.state(), drive.calling()]).toEqual(['rollingBack.writing', 'store'])
  })

  test.each([
    {
      name: 'requests are under way for too long',
      reading: { ...OUT, inFlight: 2, detail: said('2 in flight') },
      code: 'not-empty',
    },
    { name: 'it stays in rotation', reading: IN, code: 'images-not-patched' },
  ])('not rolled back where $name', async ({ reading, code }) => {
    const drive = createDrive({ stored: recorded('patched'), pod: PODS.hopeless }, rollsBack)
    await drive.answer(OUT)
    expect(drive.state()).toBe('rollingBack.confirming')
    await keepAnswering(drive, { inspect: reading }, DEADLINES.drainDeadline + 1_000)
    expect(end(drive)).toMatchObject({ value: 'failed', deadline: 'drain', reason: { code } })
  })

  test.each([
    { isReady: true, value: 'failed', reason: { code: 'reclaimed', entry: PUT_BACK } },
    { isReady: false, value: { rollingBack: 'writing' }, reason: { code: 'restart-not-proven' } },
  ])('an operator has put back what he had out; the pod is ready: $isReady', async ({ isReady, value, reason }) => {
    const drive = createDrive({ stored: recorded('patched'), pod: { ...PODS.witness, ready: isReady } }, rollsBack)
    await drive.answer(OUT)
    await drive.pass(DEADLINES.restartDeadline)
    expect(drive.input()).toMatchObject({ all: true })
    await drive.answer({ ...OUT, reclaimed: PUT_BACK })
    expect(end(drive)).toMatchObject({ value, reason })
  })

  test('the ready deadline is the reason', async () => {
    const drive = createDrive({ stored: recorded('patched'), pod: PODS.witness }, rollsBack)
    await drive.answer(OUT)
    drive.send({ type: 'observed', pod: PODS.started, stored: recorded('patched') })
    expect(drive.state()).toBe('warming.waiting')
    await drive.pass(DEADLINES.readyDeadline)
    await drive.answer(OUT)
    expect(drive.state()).toBe('rollingBack.writing')
    expect(end(drive)).toMatchObject({ outcome: 'rolledBack', deadline: 'ready' })
  })

  test('a hopeless image is rolled back at once, and what is said of it does not count against the former one', async () => {
    const drive = createDrive({ stored: recorded('patched'), pod: PODS.hopeless }, rollsBack)
    await drive.answer(OUT)
    await drive.answer(OUT)
    expect(drive.state()).toBe('rollingBack.writing')
    const still = { ...PODS.hopeless, generation: 3, containers: PODS.hopeless.containers.map((one) => ({ ...one, image: V1 })) }
    await drive.stored(still)
    drive.send({ type: 'observed', pod: { ...still, observedGeneration: 3 }, stored: drive.actor.getSnapshot().context.stored })
    expect(drive.state()).toBe('restarting.watching.resting')
  })

  test('the ledger knows better what it had than a journal of a pod that was broken before', async () => {
    const before = [{ container: 'app', image: 'registry/app:v0' }]
    const drive = createDrive({ stored: recorded('patched'), pod: PODS.hopeless, before }, rollsBack)
    await drive.answer(OUT)
    await drive.answer(OUT)
    expect(drive.input()).toMatchObject({ wanted: before })
  })

  test('once: a rollback that does not come up fails, stays out, and says both', async () => {
    const drive = await rollingBack()
    await drive.stored(patchedBack)
    await drive.pass(DEADLINES.restartDeadline)
    expect(end(drive)).toEqual({
      value: 'failed',
      outcome: 'failed',
      deadline: 'rollback',
      reason: {
        code: 'restart-not-proven',
        because: { code: 'kubelet-behind', generation: 3, observed: 2 },
        after: { code: 'restart-not-proven', because: { code: 'container-not-replaced' } },
      },
    })
  })

  test('a rollback that is refused again and again fails', async () => {
    const drive = await rollingBack()
    const read = { kind: 'read', seen: { pod: PODS.witness, stored: recorded('patched') } }
    await keepAnswering(drive, { store: REJECTED, read, inspect: OUT }, 5_000)
    expect(end(drive)).toMatchObject({
      value: 'failed',
      outcome: 'failed',
      reason: { code: 'images-not-patched', because: REJECTED.reason },
    })
  })

  test('a rollback that nobody answers is given up after the deadline', async () => {
    const drive = await rollingBack()
    const read = { kind: 'read', seen: { pod: PODS.witness, stored: recorded('patched') } }
    await keepAnswering(drive, { store: UNKNOWN, read, inspect: OUT }, DEADLINES.drainDeadline - 500)
    expect(drive.state()).toMatch(/^rollingBack/)
    await keepAnswering(drive, { store: UNKNOWN, read, inspect: OUT }, 10_000)
    expect(end(drive)).toMatchObject({
      value: 'failed',
      outcome: 'failed',
      deadline: 'drain',
      reason: { code: 'images-not-patched', because: UNKNOWN.reason },
    })
  })

  test('a rollback of an owner before this one that lands late is gone on with', async () => {
    const drive = createDrive({ stored: recorded('patched'), pod: PODS.witness }, rollsBack)
    await drive.answer(OUT)
    const late = recorded('patched', { epoch: 1, rollback: [{ container: 'app', image: V1 }], generation: 3 })
    drive.send({ type: 'observed', pod: PODS.backSeen, stored: late })
    expect(drive.state()).toBe('claiming.writing')
    await drive.stored()
    await drive.answer(OUT)
    drive.send({ type: 'observed', pod: PODS.backReady, stored: drive.actor.getSnapshot().context.stored })
    expect(drive.state()).toBe('warming.steady')
    expect(end(drive)).toMatchObject({ outcome: 'rolledBack' })
  })

  test('of another run it is not gone on with: that asked for other images', async () => {
    const rollback = [{ container: 'app', image: V1 }]
    const other = recorded('patched', { run: 'run-0', epoch: 1, rollback, generation: 3 })
    const drive = createDrive({ stored: other, pod: PODS.backReady }, rollsBack)
    expect((drive.input() as StoreInput).record).not.toHaveProperty('rollback')
    await drive.stored()
    expect(drive.state()).toBe('draining.reading')
  })
})
