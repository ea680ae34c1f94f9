import { describe, expect, test } from 'vitest'
import type { JournalTarget, PodView } from '../../src/pods/glossary.ts'
import type { EffectInput, RelocateInput, SettleInput, TargetsInput } from './ports.ts'
import type { Drive } from './testing/drive.ts'
import { createDrive } from './testing/drive.ts'
import { PODS } from './testing/explore.ts'
import { IN, OUT, recorded, said, UNKNOWN } from './testing/recorded.ts'
import { TARGET } from './testing/world.ts'

/* The pod, or its replacement, has another address than its entry in the load balancer. */

const REMOVED = { ...OUT, removed: true }
const ELSEWHERE = { kind: 'elsewhere', reason: said('at its new address 10.0.0.9 it is in no load balancer') }
const NOW: JournalTarget = { ...TARGET, target: 'web-0@10.0.0.9' }
const FOLLOWED = { kind: 'same', address: '10.0.0.9', targets: [NOW] }

const end = ({ actor }: Drive) => {
  const { value, context } = actor.getSnapshot()
  return { value, outcome: context.outcome, reason: context.reason }
}

describe('the same pod, whose sandbox died', () => {
  const moved: PodView = { ...PODS.ready, ip: '10.0.0.9' }
  const start = (): Drive => createDrive({ pod: moved, stored: recorded('patched'), address: '10.0.0.1' })

  test('goes on with its entry, once that has followed it', async () => {
    const drive = start()
    expect(drive.calling()).toBe('relocate')
    await drive.answer(FOLLOWED)
    expect(drive.state()).toBe('restarting.confirming')
    expect((drive.input() as TargetsInput).targets).toEqual([NOW])
    await drive.answer(OUT)
    await drive.pass(5_000)
    // The restore intent is durable under the present name of the entry.
    expect(drive.calling()).toBe('store')
    expect(drive.input()).toMatchObject({ record: { step: 'restore', targets: [NOW] } })
  })

  test('is claimed first, where an earlier owner has left it: no effect rests on an old look at it', async () => {
    const drive = createDrive({ pod: moved, stored: recorded('patched', { epoch: 1 }), address: '10.0.0.1' })
    expect([drive.state(), drive.calling()]).toEqual(['claiming.writing', 'store'])
    await drive.stored()
    expect([drive.state(), drive.calling()]).toEqual(['settling.relocating', 'relocate'])
  })

  test('stays out where somebody has patched it since: his images are left', async () => {
    const drive = createDrive({ pod: PODS.witness, stored: recorded('patched'), address: '10.0.0.1' })
    await drive.answer(OUT)
    expect(drive.state()).toBe('restarting.watching.resting')
    const image = 'registry.example/app:v9'
    const his: PodView = { ...moved, generation: 3, containers: PODS.ready.containers.map((one) => ({ ...one, image })) }
    drive.send({ type: 'observed', pod: his, stored: recorded('patched') })
    await drive.answer(FOLLOWED)
    expect(end(drive)).toMatchObject({ value: 'failed', outcome: 'failed' })
    expect(end(drive).reason).toMatchObject({ code: 'images-rewritten', images: [{ image }] })
  })

  test('is left out where no load balancer has it at its new address', async () => {
    const drive = start()
    await drive.answer(ELSEWHERE)
    await drive.answer(OUT)
    expect(drive.input() as SettleInput).toMatchObject({ settlement: 'abandoned', targets: [TARGET], address: '10.0.0.1' })
    await drive.answer({ kind: 'stored' })
    expect(end(drive)).toMatchObject({ value: 'needsOperator', outcome: 'needsOperator' })
    expect(end(drive).reason).toEqual({
      code: 'abandoned',
      pod: 'web-0',
      entries: [{ loadBalancer: 'edge', target: 'web-0' }],
      because: ELSEWHERE.reason,
    })
  })

  test('has nothing to put back where its entry was removed', async () => {
    const drive = start()
    await drive.answer(ELSEWHERE)
    await drive.answer(REMOVED)
    expect(drive.state()).toBe('restarting.confirming')
    expect((drive.input() as TargetsInput).targets).toEqual([])
  })

  test('that was not patched yet is closed, and begins anew with what it is in now', async () => {
    const drive = createDrive({ pod: PODS.moved, stored: recorded('drain'), address: '10.0.0.1' })
    await drive.answer(ELSEWHERE)
    await drive.answer(REMOVED)
    expect(drive.state()).toBe('readmitting.writing')
    expect(drive.input()).toMatchObject({ record: { step: 'restore', targets: [] } })
  })

  test('is asked for again where that could not be known', async () => {
    const drive = start()
    await drive.answer(UNKNOWN)
    expect(drive.calling()).toBeUndefined()
    await drive.pass(300)
    expect(drive.calling()).toBe('relocate')
  })
})

describe('a pod that is gone, with another in its place at another address', () => {
  const heir: PodView = { ...PODS.ready, uid: 'heir', ip: '10.0.0.9' }

  async function start(): Promise<Drive> {
    const drive = createDrive({ gone: true, targets: [TARGET] })
    drive.send({ type: 'heir', heir: { pod: heir, sameAddress: false, isDrained: false, isReady: true }, expected: true })
    await drive.answer(OUT)
    expect(drive.calling()).toBe('relocate')
    expect((drive.input() as RelocateInput).pod).toBe(heir)
    return drive
  }

  test('is put back where its entry was pointed at the other: under its present name', async () => {
    const drive = await start()
    await drive.answer(FOLLOWED)
    expect((drive.input() as TargetsInput).targets).toEqual([NOW])
    await drive.answer(OUT)
    expect(drive.input() as SettleInput).toMatchObject({ settlement: 'restore', targets: [NOW], address: '10.0.0.9' })
    await drive.answer({ kind: 'stored' })
    expect(drive.input() as EffectInput).toMatchObject({ effect: 'restore', record: { targets: [NOW] } })
  })

  test('is at its place from then on, with all its addresses', async () => {
    const dual = { ...heir, otherIps: ['fd00::9'] }
    const gone = { ...PODS.ready, otherIps: ['fd00::1'] }
    const drive = createDrive({ pod: gone, gone: true, targets: [TARGET] })
    drive.send({ type: 'heir', heir: { pod: dual, sameAddress: false, isDrained: false, isReady: true }, expected: true })
    await drive.answer(OUT)
    await drive.answer(FOLLOWED)
    const { pod, address } = drive.actor.getSnapshot().context
    expect({ ip: address, otherIps: pod.otherIps }).toEqual({ ip: dual.ip, otherIps: dual.otherIps })
  })

  test('needs no call where the operator has put it in, too', async () => {
    const drive = await start()
    await drive.answer(FOLLOWED)
    await drive.answer(IN)
    await drive.answer({ kind: 'stored' })
    expect(end(drive)).toEqual({
      value: 'done',
      outcome: 'settled',
      reason: { code: 'settled-by-replacement', replacement: heir.name },
    })
  })

  test('has nothing to put back where its entry was removed', async () => {
    const drive = createDrive({ gone: true, targets: [TARGET] })
    await drive.answer(REMOVED)
    expect(drive.input() as SettleInput).toMatchObject({ settlement: 'closed' })
    await drive.answer({ kind: 'stored' })
    expect(end(drive)).toEqual({
      value: 'done',
      outcome: 'settled',
      reason: { code: 'settled-by-removal' },
    })
  })

  test('is said to be in no rotation where somebody has put the entry back as it was', async () => {
    const drive = createDrive({ gone: true, targets: [TARGET] })
    drive.send({ type: 'heir', heir: { pod: heir, sameAddress: false, isDrained: false, isReady: true }, expected: true })
    await drive.answer(IN)
    await drive.answer({ kind: 'stored' })
    expect(end(drive)).toEqual({
      value: 'done',
      outcome: 'settled',
      reason: {
        code: 'settled-elsewhere',
        replacement: heir.name,
        address: '10.0.0.9',
        entries: [{ loadBalancer: 'edge', target: 'web-0' }],
      },
    })
  })

  test('is left out otherwise, and both are named', async () => {
    const drive = await start()
    await drive.answer(ELSEWHERE)
    await drive.answer({ kind: 'stored' })
    expect(end(drive)).toMatchObject({ value: 'needsOperator', outcome: 'needsOperator' })
    expect(end(drive).reason).toEqual({
      code: 'abandoned',
      pod: 'web-0',
      entries: [{ loadBalancer: 'edge', target: 'web-0' }],
      because: { code: 'replacement-came', replacement: heir.name, because: ELSEWHERE.reason },
    })
  })

  test('is left out with the address that its entry was pointed at, where the other is there no more', async () => {
    const drive = await start()
    await drive.answer(FOLLOWED)
    const back = { ...heir, ip: '10.0.0.1' }
    drive.send({ type: 'heir', heir: { pod: back, sameAddress: false, isDrained: false, isReady: true }, expected: true })
    await drive.answer(OUT)
    await drive.answer(ELSEWHERE)
    expect(drive.input() as SettleInput).toMatchObject({ settlement: 'abandoned', targets: [NOW], address: '10.0.0.9' })
  })

  test('is asked for anew where yet another has come while it was asked for', async () => {
    const drive = await start()
    const other = { ...heir, uid: 'other', ip: '10.0.0.11' }
    drive.send({ type: 'heir', heir: { pod: other, sameAddress: false, isDrained: false, isReady: true }, expected: true })
    await drive.answer(FOLLOWED)
    await drive.answer(OUT)
    expect(drive.calling()).toBe('relocate')
    expect((drive.input() as RelocateInput).pod).toBe(other)
  })
})
