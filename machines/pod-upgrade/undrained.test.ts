import { expect, test } from 'vitest'
import type { ContainerImage, Journal, PodView } from '../../src/pods/glossary.ts'
import { testPod } from '../../src/pods/testing/raw-pod.ts'
import type { PodInput, StoreInput } from './ports.ts'
import { createDrive, DELAYS, type Drive } from './testing/drive.ts'
import { OUT, recorded } from './testing/recorded.ts'

/* A pod whose changed container needs no drain. */

const APP: ContainerImage = { container: 'app', image: 'app:v2' }
const AGENT: ContainerImage = { container: 'log-agent', image: 'agent:v2' }
const UNDRAINED = { undrained: ['log-agent'], targets: [] }
const BASELINE = [{ name: 'log-agent', image: 'agent:v1', containerId: 'g1', imageId: 'sha256:agent:v1' }]

/** A pod with these images in its spec, and with `runs` running in the agent. */
function podOf(generation: number, { app = 'app:v1', agent = 'agent:v1', runs }: Record<string, string> = {}): PodView {
  const status = (id: string, image: string) => ({ id, image, imageId: `sha256:${image}`, running: true, ready: true })
  return testPod({
    ip: '10.0.0.1',
    graceSeconds: 1,
    generation,
    observedGeneration: generation,
    containers: [
      { name: 'app', image: app, status: status(`a-${app}`, app) },
      { name: 'log-agent', image: agent, status: status((runs ?? agent) === 'agent:v1' ? 'g1' : `g-${agent}`, runs ?? agent) },
    ],
  })
}

const recordOf = (drive: Drive): Journal => (drive.input() as StoreInput).record
const wantedOf = (drive: Drive): ContainerImage[] => (drive.input() as PodInput).wanted

/** Drives the pod from its snapshot to the patch. */
async function patching(wanted: ContainerImage[], pod = podOf(1)): Promise<Drive> {
  const drive = createDrive({ pod, wanted })
  drive.send({ type: 'start' })
  expect([drive.calling(), wantedOf(drive)]).toEqual(['snapshot', wanted])
  await drive.answer({ kind: 'taken', ...UNDRAINED, address: '10.0.0.1' })
  expect(drive.calling()).toBe('enroll')
  await drive.answer({ kind: 'stored' })
  return drive
}

/** Drives the pod through the calls without targets, which change nothing, to the write of the images. */
async function toImages(drive: Drive): Promise<void> {
  await drive.stored()
  expect(drive.state()).toBe('draining.calling')
  await drive.answer({ kind: 'applied' })
  await drive.pass(DELAYS.settle)
  await drive.answer(OUT)
  expect(drive.state()).toBe('patching.writing')
}

/** Drives the pod home after the proof of its restart. */
async function home(drive: Drive): Promise<void> {
  await drive.pass(DELAYS.readyFor)
  expect(drive.state()).toBe('restoring.writing')
  await drive.stored()
  await drive.answer({ kind: 'applied' })
  await drive.answer({ kind: 'equal' })
  expect([drive.state(), recordOf(drive).step]).toEqual(['closing.writing', 'closed'])
  await drive.stored()
}

test('it goes the way of a pod without targets, on a record that names the container', async () => {
  const drive = await patching([AGENT])
  expect(recordOf(drive)).toMatchObject({ step: 'drain', ...UNDRAINED, baseline: BASELINE })
  await toImages(drive)
  expect(recordOf(drive)).toMatchObject({ step: 'patched', ...UNDRAINED, generation: 2 })
  await drive.stored(podOf(2, { agent: 'agent:v2', runs: 'agent:v1' }))
  expect(drive.state()).toBe('restarting.watching.resting')
  const { record: journal } = drive.actor.getSnapshot().context
  drive.send({ type: 'observed', pod: podOf(2, { agent: 'agent:v2' }), stored: { kind: 'read', journal: journal! } })
  await home(drive)
  expect(drive.actor.getSnapshot().context).toMatchObject({ outcome: 'upgraded', reason: { code: 'upgraded', rotation: 'kept' } })
})

test('an earlier owner has meant to: closed, and decided anew once it has a place', async () => {
  const drive = createDrive({
    pod: podOf(1),
    wanted: [APP, AGENT],
    stored: recorded('drain', { epoch: 1, ...UNDRAINED, baseline: BASELINE }),
  })
  await drive.stored()
  expect([drive.state(), recordOf(drive).step]).toEqual(['closing.writing', 'closed'])
  await drive.stored()
  expect(drive.state()).toBe('queued')
  drive.send({ type: 'start' })
  expect([drive.calling(), wantedOf(drive)]).toEqual(['snapshot', [APP, AGENT]])
})

test('control: what it has drained is gone on with', async () => {
  const drive = createDrive({ pod: podOf(1), wanted: [APP], stored: recorded('drain', { epoch: 1 }) })
  await drive.stored()
  expect(drive.state()).toBe('draining.reading')
})

test('an earlier owner has patched it, and other containers are asked for too: that is ended first, and patches nothing else', async () => {
  const wanted = [APP, { ...AGENT, image: 'agent:v3' }]
  const stored = recorded('patched', { epoch: 1, ...UNDRAINED, baseline: BASELINE })
  const drive = createDrive({ pod: podOf(2, { agent: 'agent:v2', runs: 'agent:v1' }), wanted, stored })
  await drive.stored()
  expect(drive.state()).toBe('draining.reading')
  await drive.answer(OUT)
  await drive.pass(DELAYS.settle)
  await drive.answer(OUT)
  expect([drive.state(), wantedOf(drive)]).toEqual(['patching.writing', [wanted[1]]])
  await drive.stored(podOf(3, { agent: 'agent:v3', runs: 'agent:v1' }))
  const { record: journal } = drive.actor.getSnapshot().context
  drive.send({ type: 'observed', pod: podOf(3, { agent: 'agent:v3' }), stored: { kind: 'read', journal: journal! } })
  await home(drive)
  expect(drive.state()).toBe('queued')
  drive.send({ type: 'start' })
  expect([drive.calling(), wantedOf(drive)]).toEqual(['snapshot', wanted])
})

test('it fails: back to the former image of that container, and of no other', async () => {
  const before = [
    { container: 'app', image: 'app:v0' },
    { container: 'log-agent', image: 'agent:v1' },
  ]
  const stored = recorded('patched', { ...UNDRAINED, baseline: BASELINE })
  const pod = podOf(2, { agent: 'agent:v2', runs: 'agent:v1' })
  const drive = createDrive({ pod, wanted: [AGENT], stored, before }, { rollsBack: () => true })
  await drive.answer(OUT)
  await drive.pass(310_000)
  expect(drive.state()).toBe('rollingBack.confirming')
  await drive.answer(OUT)
  expect(drive.state()).toBe('rollingBack.writing')
  expect(recordOf(drive).rollback).toEqual([before[1]])
})

test('somebody has patched that container before the intent, and another one back: closed, and decided anew', async () => {
  const drive = createDrive({ pod: podOf(1, { app: 'app:v2' }), wanted: [APP, AGENT] })
  drive.send({ type: 'start' })
  await drive.answer({ kind: 'taken', ...UNDRAINED, address: '10.0.0.1' })
  drive.send({ type: 'observed', pod: podOf(3, { agent: 'agent:v2' }), stored: { kind: 'none' } })
  await drive.answer({ kind: 'stored' })
  expect([drive.state(), recordOf(drive).step]).toEqual(['closing.writing', 'closed'])
  await drive.stored()
  expect(drive.state()).toBe('queued')
})
