import { describe, expect, test } from 'vitest'
import type { PodView, ReadJournal } from '../../src/pods/glossary.ts'
import type { PodEvent } from './context.ts'
import type { SettleInput, StoreInput } from './ports.ts'
import type { Drive } from './testing/drive.ts'
import { createDrive, DEADLINES, DELAYS } from './testing/drive.ts'
import { PODS } from './testing/explore.ts'
import { IN, OUT, recorded, REJECTED, said, UNKNOWN, UNREAD } from './testing/recorded.ts'
import { TARGET, V1, V2 } from './testing/world.ts'
import { waitingFor } from './waiting.ts'

/* Changes of the pod, or of its replacement, during a read, a write or a call. None of them may let the next step be sent. */

const MOVED = { ...PODS.ready, ip: '10.0.0.9' }

const OTHERS_RUN: PodView = {
  ...PODS.before,
  generation: 3,
  observedGeneration: 3,
  containers: PODS.before.containers.map((one) => ({
    ...one,
    containerId: 'c9',
    imageId: 'sha256:v9',
    statusImage: 'registry/app:v9',
  })),
}

/** The record of a re-admission by an earlier owner, without a patch. */
function readmitted(): ReadJournal {
  const { generation: _, ...journal } = recorded('restore', { epoch: 1 }).journal
  return { kind: 'read', journal }
}

async function writingRestore(): Promise<Drive> {
  const drive = createDrive({ stored: recorded('patched'), pod: PODS.witness })
  await drive.answer(OUT)
  drive.send({ type: 'observed', pod: PODS.ready, stored: recorded('patched') })
  await drive.pass(DELAYS.readyFor)
  expect([drive.state(), drive.calling()]).toEqual(['restoring.writing', 'store'])
  return drive
}

describe('the restore', () => {
  test.each([
    { name: 'not ready any more', pod: PODS.started, state: /^warming/ },
    { name: 'moved', pod: MOVED, state: /^settling/ },
  ])('its intent is tried again, and the pod is $name: it is not written', async ({ pod, state }) => {
    const drive = await writingRestore()
    await drive.answer({ kind: 'unknown', reason: said('500') })
    await drive.answer({ kind: 'read', seen: { pod: PODS.ready, stored: recorded('patched') } })
    drive.send({ type: 'observed', pod, stored: recorded('patched') })
    await drive.pass(DELAYS.retry)
    expect(drive.state()).toMatch(state)
  })

  test.each<{ name: string; pod: PodView }>([
    { name: 'not ready any more', pod: PODS.started },
    { name: 'being deleted', pod: { ...PODS.ready, deleting: true } },
    { name: 'moved', pod: MOVED },
  ])('its intent is found stored when the pod is $name: nothing is called', async ({ pod }) => {
    const drive = await writingRestore()
    await drive.answer({ kind: 'unknown', reason: said('reset') })
    await drive.answer({ kind: 'unknown', reason: said('reset') })
    await drive.pass(DELAYS.retry)
    await drive.answer({ kind: 'read', seen: { pod, stored: recorded('restore') } })
    expect(drive.calling()).toBe('inspect')
  })

  test('the answer to its intent shows that the pod is not ready any more: it is called when that is', async () => {
    const drive = await writingRestore()
    await drive.stored({ ...PODS.ready, ready: false })
    await drive.answer(OUT)
    expect([drive.state(), drive.calling()]).toEqual(['restoring.waiting', undefined])
    drive.send({ type: 'observed', pod: PODS.ready, stored: recorded('restore') })
    await drive.pass(DELAYS.retry)
    await drive.answer(OUT)
    expect([drive.state(), drive.calling()]).toEqual(['restoring.calling', 'effect'])
  })

  test('its intent is stored, and its pod was deleted right after that: it is settled, not restored', async () => {
    const drive = await writingRestore()
    drive.send({ type: 'gone' })
    await drive.stored()
    await drive.answer(OUT)
    expect(drive.state()).toMatch(/^settling/)
  })

  test('that of a re-admission is stored, and the pod is not ready any more: nothing is called', async () => {
    const drive = createDrive({ stored: recorded('drain') })
    drive.send({ type: 'interrupt' })
    await drive.answer(OUT)
    await drive.pass(DELAYS.settle)
    await drive.answer(OUT)
    expect(drive.state()).toBe('readmitting.writing')
    await drive.stored({ ...PODS.before, ready: false })
    await drive.answer(OUT)
    expect([drive.state(), drive.calling()]).toEqual(['readmitting.waiting', undefined])
  })

  test('its intent was stored by an earlier owner, and the pod is not ready: it is called when that is', async () => {
    const drive = createDrive({ stored: recorded('restore', { epoch: 1 }), pod: PODS.started })
    await drive.stored()
    await drive.answer(OUT)
    expect([drive.state(), drive.calling()]).toEqual(['restoring.waiting', undefined])
    drive.send({ type: 'observed', pod: PODS.ready, stored: recorded('restore') })
    await drive.pass(DELAYS.retry)
    await drive.answer(OUT)
    expect([drive.state(), drive.calling()]).toEqual(['restoring.calling', 'effect'])
  })

  test('the same, and other images are asked for: it gets them, since on these it has no way home', async () => {
    const wanted = [{ container: 'app', image: 'registry.example/app:v3' }]
    const drive = createDrive({ stored: recorded('restore', { epoch: 1 }), pod: PODS.started, wanted })
    await drive.stored()
    await drive.answer(OUT)
    expect(drive.state()).toBe('emptying.settling')
    await drive.pass(DELAYS.settle)
    await drive.answer(OUT)
    expect((drive.input() as StoreInput).record).toMatchObject({ step: 'patched', generation: 3 })
  })

  test.each(['emptying.settling', 'emptying.reading', 'patching'])(
    'the same, and it gets requests again (%s): it is home, and nothing is drained without an intent',
    async (state) => {
      const wanted = [{ container: 'app', image: 'registry.example/app:v3' }]
      const drive = createDrive({ stored: recorded('restore', { epoch: 1 }), pod: PODS.started, wanted })
      await drive.stored()
      await drive.answer(OUT)
      if (state !== 'emptying.settling') await drive.pass(DELAYS.settle)
      if (state === 'patching') {
        await drive.answer(OUT)
        await drive.answer(REJECTED)
        await drive.answer({ kind: 'read', seen: { pod: PODS.started, stored: recorded('restore') } })
      }
      drive.send({ type: 'reloaded' })
      if (state === 'patching') {
        await drive.pass(DELAYS.retry)
        await drive.answer(OUT)
      }
      expect([drive.state(), drive.calling()]).toEqual(['restoring.reading', 'inspect'])
      await drive.answer(IN)
      expect(drive.state()).toBe('verifying.comparing')
    },
  )

  describe('the same, and it cannot get them: it stays as the earlier run has patched it, and nobody is blamed', () => {
    const wanted = [{ container: 'app', image: 'registry.example/app:v3' }]
    const emptying = async (): Promise<Drive> => {
      const drive = createDrive({ stored: recorded('restore', { epoch: 1 }), pod: PODS.started, wanted })
      await drive.stored()
      await drive.answer(OUT)
      expect(drive.state()).toBe('emptying.settling')
      return drive
    }

    test('since requests under way do not end in time: failed, for that', async () => {
      const drive = await emptying()
      await drive.pass(DEADLINES.drainDeadline)
      await drive.answer({ ...OUT, inFlight: 1, detail: said('1 in flight') })
      expect(drive.state()).toBe('failed')
      expect(drive.actor.getSnapshot().context).toMatchObject({
        deadline: 'drain',
        reason: { code: 'not-empty', readsAsIn: false, traffic: said('1 in flight') },
      })
    })

    test('since it is interrupted: it comes home on what it was patched to', async () => {
      const drive = await emptying()
      drive.send({ type: 'interrupt' })
      await drive.pass(DELAYS.settle)
      await drive.answer(OUT)
      expect(drive.state()).toBe('restoring.reading')
      drive.send({ type: 'observed', pod: PODS.ready, stored: recorded('restore') })
      await drive.answer(OUT)
      expect([drive.state(), drive.calling()]).toEqual(['restoring.calling', 'effect'])
    })
  })

  test('the same, and somebody has given it other images since: what is ready is about to be replaced', async () => {
    const V3 = 'registry.example/app:v3'
    const of = (statusImage: string): PodView => ({
      ...PODS.ready,
      generation: 3,
      containers: PODS.ready.containers.map((one) => ({ ...one, image: V3, statusImage })),
    })
    const wanted = [{ container: 'app', image: V3 }]
    const drive = createDrive({ stored: recorded('restore', { epoch: 1 }), pod: of(V2), wanted })
    await drive.stored()
    await drive.answer(OUT)
    expect([drive.state(), drive.calling()]).toEqual(['restoring.waiting', undefined])
    drive.send({ type: 'observed', pod: { ...of(V3), observedGeneration: 3 }, stored: recorded('restore') })
    await drive.pass(DELAYS.retry)
    await drive.answer(OUT)
    expect([drive.state(), drive.calling()]).toEqual(['restoring.calling', 'effect'])
  })

  test('the same, and he has taken that back: until the kubelet has seen it, what is ready may be on its way out', async () => {
    const drive = createDrive({
      stored: recorded('restore', { epoch: 1 }),
      pod: { ...PODS.ready, generation: 4, observedGeneration: 3 },
    })
    await drive.stored()
    await drive.answer(OUT)
    expect([drive.state(), drive.calling()]).toEqual(['restoring.waiting', undefined])
    drive.send({ type: 'observed', pod: { ...PODS.ready, generation: 4, observedGeneration: 4 }, stored: recorded('restore') })
    await drive.pass(DELAYS.retry)
    await drive.answer(OUT)
    expect([drive.state(), drive.calling()]).toEqual(['restoring.calling', 'effect'])
  })

  test.each([
    { name: 'not ready', pod: { ...PODS.before, ready: false }, image: V1 },
    { name: 'given other images by somebody', pod: PODS.asked, image: V2 },
    { name: 'given other images, and back', pod: { ...PODS.before, generation: 3, observedGeneration: 2 }, image: V1 },
    { name: 'given other images, and back, and those still run', pod: OTHERS_RUN, image: V1 },
  ])('a re-admission was begun by an earlier owner, and the pod is $name: nothing is called', async ({ pod, image }) => {
    const drive = createDrive({ stored: readmitted(), pod, wanted: [{ container: 'app', image }] })
    await drive.stored()
    await drive.answer(OUT)
    expect([drive.state(), drive.calling()]).toEqual(['restoring.waiting', undefined])
  })

  test('the answer to its intent shows that somebody has given the pod other images, and taken that back', async () => {
    const drive = await writingRestore()
    await drive.stored({ ...PODS.ready, generation: 4, observedGeneration: 3 })
    await drive.answer(OUT)
    expect([drive.state(), drive.calling()]).toEqual(['restoring.waiting', undefined])
  })

  test('somebody has given it other images since its intent: his are left, and it stays out', async () => {
    const drive = await writingRestore()
    const image = 'registry.example/app:v9'
    const containers = PODS.ready.containers.map((one) => ({ ...one, image }))
    await drive.stored({ ...PODS.ready, generation: 3, containers })
    await drive.answer(OUT)
    expect([drive.state(), drive.calling()]).toEqual(['failed', undefined])
    expect(drive.actor.getSnapshot().context.reason).toMatchObject({ code: 'images-rewritten', images: [{ image }] })
  })

  describe('of a pod that somebody had given other images when it was drained, and that could not be patched', () => {
    const image = 'registry.example/app:v9'
    const [app] = PODS.before.containers
    const asked: PodView = {
      ...PODS.before,
      generation: 2,
      observedGeneration: 2,
      containers: [{ ...app!, image }],
    }
    const stored = recorded('drain', { baseline: [{ name: 'app', image, containerId: app!.containerId! }] })
    const containers = [{ ...app!, image, containerId: 'c2', statusImage: image }]

    async function readmitting(pod = asked, record = stored): Promise<Drive> {
      const drive = createDrive({ pod, stored: record })
      drive.send({ type: 'interrupt' })
      await drive.answer(OUT)
      await drive.pass(DELAYS.settle)
      await drive.answer(OUT)
      return drive
    }

    test('waits until nothing replaces what runs, from the last change on', async () => {
      const drive = await readmitting()
      expect([drive.state(), drive.calling()]).toEqual(['readmitting.quieting', undefined])
      await drive.pass(DELAYS.quiet - 1_000)
      drive.send({ type: 'observed', pod: { ...asked, containers: [{ ...app!, image, containerId: 'c2' }] }, stored })
      await drive.pass(DELAYS.quiet - 1_000)
      expect([drive.state(), drive.calling()]).toEqual(['readmitting.quieting', undefined])
      await drive.pass(1_000)
      expect(drive.state()).toBe('readmitting.writing')
    })

    test('and not at all where they run', async () => {
      const drive = await readmitting()
      drive.send({ type: 'observed', pod: { ...asked, containers }, stored })
      expect(drive.state()).toBe('readmitting.writing')
    })

    test('not where it is known that they were started from this spec, whatever name the runtime gives their image', async () => {
      const proven = recorded('drain', { ...stored.journal, proven: 2 })
      const drive = await readmitting(asked, proven)
      expect([drive.state(), drive.calling()]).toEqual(['readmitting.writing', 'store'])
      expect((drive.input() as StoreInput).record.proven).toBe(2)
    })

    test('but where that is known of an older spec: it was patched since', async () => {
      const drive = await readmitting(asked, recorded('drain', { ...stored.journal, proven: 1 }))
      expect(drive.state()).toBe('readmitting.quieting')
      expect(waitingFor('readmitting', drive.actor.getSnapshot().context)).toEqual({
        code: 'image-in-doubt',
        pod: 'web-0',
        container: 'app',
        image: 'registry.example/app:v9',
        runs: 'registry/app:v1',
        quietMs: 61_000,
      })
    })

    test('counts from when the kubelet has seen them', async () => {
      const drive = await readmitting({ ...asked, observedGeneration: 1 })
      await drive.pass(DELAYS.quiet)
      expect([drive.state(), drive.calling()]).toEqual(['readmitting.waitingReady', undefined])
      drive.send({ type: 'observed', pod: asked, stored })
      expect(drive.state()).toBe('readmitting.quieting')
    })

    test('counts anew where it was not ready meanwhile', async () => {
      const drive = await readmitting()
      await drive.pass(DELAYS.quiet - 1_000)
      drive.send({ type: 'observed', pod: { ...asked, ready: false }, stored })
      drive.send({ type: 'observed', pod: asked, stored })
      await drive.pass(DELAYS.quiet - 1_000)
      expect([drive.state(), drive.calling()]).toEqual(['readmitting.quieting', undefined])
    })
  })

  test('of a pod whose patch was refused: on what it had run before the drain, whatever it was to be patched over', async () => {
    const drive = createDrive({ stored: recorded('drain'), pod: PODS.before })
    await drive.answer(OUT)
    await drive.pass(DELAYS.settle)
    // The container still runs the image of another writer, and the spec has the former image again.
    drive.send({ type: 'observed', pod: OTHERS_RUN, stored: recorded('drain') })
    await drive.answer(OUT)
    expect(drive.state()).toBe('patching.writing')
    drive.send({ type: 'interrupt' })
    await drive.answer({ kind: 'rejected', reason: said('403') })
    await drive.answer({ kind: 'read', seen: { pod: OTHERS_RUN, stored: recorded('drain') } })
    expect(drive.state()).toBe('readmitting.quieting')
    await drive.pass(DELAYS.quiet)
    expect((drive.input() as StoreInput).record).toMatchObject({ step: 'restore', baseline: recorded('drain').journal.baseline })
    await drive.stored()
    await drive.answer(OUT)
    expect([drive.state(), drive.calling()]).toEqual(['readmitting.waiting', undefined])
  })

  test('it came back as something else, and somebody has given its pod other images since: it is not called', async () => {
    const drive = await writingRestore()
    await drive.stored()
    await drive.answer({ kind: 'applied' })
    await drive.answer({ kind: 'different', reason: said('out') })
    const containers = PODS.ready.containers.map((one) => ({ ...one, image: 'registry/app:v9' }))
    drive.send({ type: 'observed', pod: { ...PODS.ready, generation: 3, containers }, stored: recorded('restore') })
    await drive.pass(DELAYS.retry)
    expect([drive.state(), drive.calling()]).toEqual(['verifying.comparing', 'compare'])
  })

  test('it came back as something else, and its pod is gone: it is settled, not restored', async () => {
    const drive = await writingRestore()
    await drive.stored()
    await drive.answer({ kind: 'applied' })
    drive.send({ type: 'gone' })
    await drive.answer({ kind: 'different', reason: said('still drained') })
    await drive.pass(DELAYS.retry)
    expect(drive.state()).toMatch(/^settling/)
  })
})

describe('the drain', () => {
  test('is answered as done where an earlier call may still arrive: it has settled once it is seen to be out', async () => {
    const drive = createDrive({ stored: recorded('drain') })
    await drive.answer(IN)
    drive.send({ type: 'start' })
    await drive.answer(IN)
    await drive.answer(UNKNOWN)
    await drive.pass(DELAYS.retry)
    await drive.answer(IN)
    await drive.answer({ kind: 'applied', lateCall: true })
    expect([drive.state(), drive.calling()]).toEqual(['draining.reading', 'inspect'])
    await drive.answer(IN)
    await drive.answer({ kind: 'applied', lateCall: true })
    await drive.answer(OUT)
    expect([drive.state(), drive.calling()]).toEqual(['emptying.settling', undefined])
  })

  test.each([
    { answer: { kind: 'applied', lateCall: true }, reading: OUT, state: 'emptying.settling' },
    { answer: { kind: 'applied', lateCall: true }, reading: IN, state: 'emptying.returned' },
    { answer: UNKNOWN, reading: OUT, state: 'emptying.settling' },
    { answer: UNKNOWN, reading: UNREAD, state: 'emptying.returned' },
  ])(
    'the same where it was back, and is drained again: $answer.kind, $reading.detail.said',
    async ({ answer, reading, state }) => {
      const drive = createDrive({ stored: recorded('drain') })
      await drive.answer(OUT)
      drive.send({ type: 'reloaded' })
      await drive.answer(answer)
      expect([drive.state(), drive.calling()]).toEqual(['emptying.looking', 'inspect'])
      await drive.answer(reading)
      expect([drive.state(), drive.calling()]).toEqual([state, undefined])
    },
  )

  test('the pod moves between the look at its targets and the intent: looked for anew', async () => {
    const drive = createDrive()
    drive.send({ type: 'start' })
    await drive.answer({ kind: 'taken', targets: [TARGET], address: '10.0.0.1' })
    drive.send({ type: 'observed', pod: PODS.moved, stored: { kind: 'none' } })
    await drive.answer({ kind: 'stored' })
    expect([drive.state(), drive.calling()]).toEqual(['checking.inspecting', 'snapshot'])
  })

  test('the same, before the intent is tried again', async () => {
    const drive = createDrive()
    drive.send({ type: 'start' })
    await drive.answer({ kind: 'taken', targets: [TARGET], address: '10.0.0.1' })
    await drive.answer({ kind: 'stored' })
    await drive.answer({ kind: 'unknown', reason: said('reset') })
    await drive.answer({ kind: 'read', seen: { pod: PODS.before, stored: { kind: 'none' } } })
    drive.send({ type: 'observed', pod: PODS.moved, stored: { kind: 'none' } })
    await drive.pass(DELAYS.retry)
    expect([drive.state(), drive.calling()]).toEqual(['checking.inspecting', 'snapshot'])
  })

  test('deleted while it is looked for, and its entry with it: no failure', async () => {
    const drive = createDrive()
    drive.send({ type: 'start' })
    drive.send({ type: 'gone' })
    await drive.answer({ kind: 'absent', reason: said('no entry at 10.0.0.1') })
    expect(drive.actor.getSnapshot().context.outcome).toBe('settled')
  })
})

describe('a rollback that somebody has taken back', () => {
  const rollback = [{ container: 'app', image: V1 }]
  const pod = (id: string, image: string, generation: number): PodView => ({
    ...PODS.ready,
    generation,
    observedGeneration: 4,
    resourceVersion: `${id}-${generation}`,
    containers: PODS.ready.containers.map((container) => ({
      ...container,
      image,
      containerId: id,
      statusImage: V2,
      imageId: `sha256:${V2}`,
      running: true,
      ready: true,
    })),
  })

  test('is patched in again, and judged by its own generation', async () => {
    const wanted = [{ container: 'app', image: V2 }]
    const drive = createDrive({ pod: pod('c2', V2, 4), stored: recorded('patched', { rollback, generation: 3 }), wanted })
    await drive.answer(OUT)
    await drive.pass(DELAYS.settle)
    await drive.answer(OUT)
    const { record } = drive.input() as StoreInput
    expect(record.generation).toBe(5)
    await drive.stored(pod('c2', V1, 5))
    // The container of the former image ends and starts again, before the kubelet has seen the patch.
    drive.send({ type: 'observed', pod: pod('c3', V1, 5), stored: { kind: 'read', journal: record } })
    expect(drive.state()).toMatch(/^restarting/)
  })
})

describe('what is settled', () => {
  test('the one in its place runs other images than are asked for: it waits until nothing replaces what runs', async () => {
    const heir = (containerId: string, statusImage: string): PodEvent => {
      const containers = PODS.ready.containers.map((one) => ({ ...one, containerId, statusImage }))
      const pod = { ...PODS.ready, uid: 'heir', containers }
      return { type: 'heir', heir: { pod, sameAddress: true, isDrained: false, isReady: true }, expected: true }
    }
    const drive = createDrive({ gone: true, targets: [TARGET] })
    drive.send(heir('c8', 'registry/app:v9'))
    await drive.answer(OUT)
    expect([drive.state(), drive.calling()]).toEqual(['settling.quieting', undefined])
    await drive.pass(DELAYS.quiet - 1_000)
    drive.send(heir('c9', 'registry/app:v9'))
    await drive.pass(DELAYS.quiet - 1_000)
    expect([drive.state(), drive.calling()]).toEqual(['settling.quieting', undefined])
    drive.send(heir('c9', V2))
    expect([drive.state(), drive.calling()]).toEqual(['settling.intending', 'settle'])
  })

  const heir = { pod: PODS.ready, sameAddress: true, isDrained: false, isReady: true }

  test('the one in its place goes before the restore is sent anew: nothing is sent', async () => {
    const drive = createDrive({ gone: true, targets: [TARGET] })
    await drive.answer(OUT)
    drive.send({ type: 'heir', heir, expected: true })
    await drive.answer({ kind: 'stored' })
    await drive.answer({ kind: 'retryable', reason: said('throttled') })
    drive.send({ type: 'heir', heir: null, expected: true })
    await drive.pass(DELAYS.retry)
    await drive.answer({ kind: 'different', reason: said('drained') })
    await drive.pass(DELAYS.retry)
    expect(drive.state()).toBe('settling.reading')
  })

  test('what was not expected any more comes after all, while the ledger cannot be written: it is put back for that', async () => {
    const drive = createDrive({ gone: true, targets: [TARGET] })
    drive.send({ type: 'heir', heir: null, expected: false })
    await drive.answer(OUT)
    expect((drive.input() as SettleInput).settlement).toBe('left')
    await drive.answer(UNKNOWN)
    drive.send({ type: 'heir', heir, expected: true })
    await drive.pass(DELAYS.retry)
    expect((drive.input() as SettleInput).settlement).toBe('restore')
  })

  test.each([
    { name: 'nothing comes in its place', reading: OUT, expected: false },
    { name: 'its entry is removed', reading: { ...OUT, removed: true }, expected: true },
  ])('evicted, with a drain that may still arrive, and $name: it comes to an end', async ({ reading, expected }) => {
    const drive = createDrive({ stored: recorded('drain') })
    await drive.answer(IN)
    drive.send({ type: 'start' })
    await drive.answer(IN)
    await drive.answer({ kind: 'applied', lateCall: true })
    drive.send({ type: 'observed', pod: { ...PODS.before, finished: true }, stored: recorded('drain') })
    drive.send({ type: 'heir', heir: null, expected })
    for (let calls = 0; calls < 20 && drive.actor.getSnapshot().status === 'active'; calls++) {
      await drive.pass(DELAYS.lateArrival)
      if (drive.calling() === 'inspect') await drive.answer(reading)
      else if (drive.calling() === 'settle') await drive.answer({ kind: 'stored' })
      else if (drive.calling() === 'store') await drive.stored()
    }
    expect(drive.state()).toBe('done')
  })

  test('a load balancer that can never be read: a person is asked in the end', async () => {
    const drive = createDrive({ gone: true, targets: [TARGET] })
    drive.send({ type: 'heir', heir, expected: true })
    for (let passed = 0; passed < DEADLINES.settleDeadline + 10_000; passed += 5_000) {
      while (drive.calling() === 'inspect') await drive.answer(UNREAD)
      await drive.pass(5_000)
    }
    expect(drive.state()).toBe('needsOperator')
    expect(drive.actor.getSnapshot().context).toMatchObject({ outcome: 'needsOperator', deadline: 'restore' })
  })

  test('one that can never be asked for what came in its place: the same', async () => {
    const drive = createDrive({ gone: true, targets: [TARGET] })
    await drive.answer(OUT)
    drive.send({ type: 'heir', heir: { ...heir, pod: { ...MOVED, uid: 'heir' }, sameAddress: false }, expected: true })
    for (let passed = 0; passed < DEADLINES.settleDeadline + 10_000; passed += 5_000) {
      while (drive.calling() === 'relocate') await drive.answer(UNKNOWN)
      await drive.pass(5_000)
    }
    expect(drive.state()).toBe('needsOperator')
  })
})

test('a rollback that is written again is written only to a pod that is out', async () => {
  const rollsBack = { rollsBack: () => true }
  const drive = createDrive({ stored: recorded('patched'), pod: PODS.witness }, rollsBack)
  await drive.answer(OUT)
  await drive.pass(DEADLINES.restartDeadline)
  await drive.answer(OUT)
  expect([drive.state(), drive.calling()]).toEqual(['rollingBack.writing', 'store'])
  await drive.answer({ kind: 'unknown', reason: said('500') })
  await drive.answer({ kind: 'read', seen: { pod: PODS.witness, stored: recorded('patched') } })
  await drive.pass(DELAYS.retry)
  await drive.answer(IN)
  await drive.stored()
  await drive.pass(DELAYS.retry)
  await drive.answer(IN)
  expect([drive.state(), drive.calling()]).toEqual(['rollingBack.returned', undefined])
  await drive.pass(DELAYS.retry)
  await drive.answer(OUT)
  await drive.pass(DELAYS.settle)
  await drive.answer(OUT)
  expect([drive.state(), drive.calling()]).toEqual(['rollingBack.writing', 'store'])
})

test('a pod that is about to be rolled back, and that somebody has given its former images: failed, and says so', async () => {
  const drive = createDrive({ stored: recorded('patched'), pod: PODS.witness }, { rollsBack: () => true })
  await drive.answer(OUT)
  await drive.pass(DEADLINES.restartDeadline)
  expect(drive.state()).toBe('rollingBack.confirming')
  drive.send({ type: 'observed', pod: PODS.back, stored: recorded('patched') })
  await drive.answer(OUT)
  expect(drive.state()).toBe('failed')
  expect(drive.actor.getSnapshot().context).toMatchObject({
    outcome: 'failed',
    reason: { code: 'images-rewritten', images: [{ container: 'app', image: V1 }] },
  })
})

test('a rollback is written to a pod that has just been drained again only once that has settled', async () => {
  const drive = createDrive({ stored: recorded('patched'), pod: PODS.witness }, { rollsBack: () => true })
  await drive.answer(OUT)
  await drive.pass(DEADLINES.restartDeadline)
  drive.send({ type: 'reloaded' })
  await drive.answer(OUT)
  expect(drive.state()).toBe('rollingBack.settling')
  await drive.pass(DELAYS.settle)
  await drive.answer(OUT)
  expect([drive.state(), drive.calling()]).toEqual(['rollingBack.writing', 'store'])
})

test('a pod that fails right after it has been drained again is rolled back only once that has settled', async () => {
  const drive = createDrive({ stored: recorded('patched'), pod: PODS.witness }, { rollsBack: () => true })
  await drive.answer(OUT)
  await drive.pass(DEADLINES.restartDeadline - 1_000)
  drive.send({ type: 'reloaded' })
  await drive.answer({ kind: 'applied' })
  await drive.pass(DELAYS.retry)
  await drive.answer(OUT)
  await drive.pass(1_000 - DELAYS.retry)
  await drive.answer(OUT)
  expect(drive.state()).toBe('rollingBack.settling')
  await drive.pass(DELAYS.settle)
  await drive.answer(OUT)
  expect([drive.state(), drive.calling()]).toEqual(['rollingBack.writing', 'store'])
})

describe('interrupted while the drain intent is written: nothing is drained', () => {
  async function writing(): Promise<Drive> {
    const drive = createDrive()
    drive.send({ type: 'start' })
    await drive.answer({ kind: 'taken', targets: [TARGET], address: '10.0.0.1' })
    await drive.answer({ kind: 'stored' })
    expect(drive.state()).toBe('draining.writing')
    return drive
  }

  test('it is stored', async () => {
    const drive = await writing()
    drive.send({ type: 'interrupt' })
    await drive.stored()
    expect([drive.state(), (drive.input() as StoreInput).record.step]).toEqual(['closing.writing', 'closed'])
    await drive.stored()
    expect(drive.actor.getSnapshot().context).toMatchObject({ outcome: 'unchanged' })
    expect(drive.state()).toBe('done')
  })

  test('it is to be written once more', async () => {
    const drive = await writing()
    await drive.answer({ kind: 'unknown', reason: said('500') })
    await drive.answer({ kind: 'read', seen: { pod: PODS.before, stored: { kind: 'none' } } })
    expect(drive.state()).toBe('draining.pausing')
    drive.send({ type: 'interrupt' })
    await drive.pass(DELAYS.retry)
    expect([drive.state(), (drive.input() as StoreInput).record.step]).toEqual(['closing.writing', 'closed'])
  })
})

describe('the window has no place any more while the drain intent is written: nothing is drained, and it waits again', () => {
  test.each(['stored', 'read as stored', 'never stored'] as const)('it is %s', async (how) => {
    const drive = createDrive()
    drive.send({ type: 'start' })
    await drive.answer({ kind: 'taken', targets: [TARGET], address: '10.0.0.1' })
    await drive.answer({ kind: 'stored' })
    if (how === 'stored') {
      drive.send({ type: 'wait' })
      await drive.stored()
    } else {
      const { record } = drive.input() as StoreInput
      await drive.answer(UNKNOWN)
      await drive.answer(UNKNOWN)
      drive.send({ type: 'wait' })
      await drive.pass(DELAYS.retry)
      const journal = how === 'read as stored' ? ({ kind: 'read', journal: record } as const) : ({ kind: 'none' } as const)
      await drive.answer({ kind: 'read', seen: { pod: PODS.before, stored: journal } })
    }
    expect([drive.state(), (drive.input() as StoreInput).record.step]).toEqual(['closing.writing', 'closed'])
    await drive.stored()
    expect(drive.state()).toBe('queued')
  })
})
