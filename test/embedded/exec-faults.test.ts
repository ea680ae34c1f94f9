import { describe, expect, test, type TestContext, vi } from 'vitest'
import type { Pod } from '../../sim/kubelet/pod.ts'
import { onceEach } from './balancers/balancer.ts'
import { PLUGIN, type ProgramBalancer, startProgramBalancer } from './balancers/program.ts'
import { type Fault, faultNames, faultyProgram } from './faulty-program.ts'
import { type ProductBed, startProductBed } from './product-bed.ts'

/* Whole upgrades with a plugin program that does one thing wrong in its drains. The tests spend most of their time waiting. */

vi.setConfig({ testTimeout: 240_000 })

type AtEnd = Pick<TestContext, 'onTestFinished'>

/** Returns the state of a pod in the load balancer when its images were patched. */
function statesAtPatch({ cluster }: ProductBed, { balancer }: ProgramBalancer, { onTestFinished }: AtEnd): string[] {
  const states: string[] = []
  const imageOf = (pod: unknown): string | undefined => (pod as Pod | undefined)?.spec.containers[0]?.image
  const end = cluster.apiServer.store.subscribe((resource, { before, after }) => {
    if (resource !== 'pods' || before === undefined || imageOf(before) === imageOf(after)) return
    const { name } = (after as Pod).metadata
    states.push(balancer.servers().find((server) => server.name === name)!.state)
  })
  onTestFinished(() => end())
  return states
}

async function upgrade(fault: Fault, times: 'once' | 'always', atEnd: AtEnd, more: string[] = []) {
  const bed = await startProductBed({ web: 1 })
  atEnd.onTestFinished(() => bed.stop())
  const program = await startProgramBalancer(bed)
  atEnd.onTestFinished(() => program.stop())
  const patched = statesAtPatch(bed, program, atEnd)
  const config = await bed.configure(program.by([...faultyProgram(bed.folder, fault, times), process.execPath, PLUGIN]))
  const image = bed.nextImage()
  const before = await program.settings()
  const { code, said } = await bed.upgrade({ config, image, more }).ended
  return { bed, program, patched, image, before, code, said }
}

function drainsSent({ balancer }: ProgramBalancer): number {
  return balancer.calls.filter(({ body }) => (body as { state?: string } | undefined)?.state === 'drain').length
}

/** The number of drains that are sent. A late drain finds the pod drained: no pod is put back before the last moment of its arrival. */
const SENT: Partial<Record<Fault, number>> = { 'leaves a child that drains 8 s after the kill': 2 }

describe.concurrent('a plugin', () => {
  test.for(faultNames)('that %s once: the pod is drained once, and not patched before it is out', async (fault, context) => {
    const { bed, program, patched, image, before, code, said } = await upgrade(fault, 'once', context)
    expect(code, said).toBe(0)
    expect(patched).toEqual(['drain'])
    expect(bed.images()).toEqual([image])
    expect(drainsSent(program)).toBe(SENT[fault] ?? 1)
    expect(program.history()).toEqual(onceEach(bed.names()))
    expect(await program.settings()).toEqual(before)
  })

  test.for<[Fault, string]>([
    ['hangs', 'no answer within '],
    ['prints garbage', 'its answer is no JSON document'],
    ['exits with 1', 'it has ended with exit code 1; it says: the disk is full'],
    ['prints 100 MB', 'its answer is longer than 33554432 bytes'],
  ])('that %s each time: the upgrade fails, says so, and patches no pod', async ([fault, message], context) => {
    const { bed, program, patched, image, before, code, said } = await upgrade(fault, 'always', context, [
      '--drain-deadline',
      '15s',
    ])
    expect(code, said).toBe(4)
    expect(said).toMatch(/the drain could not be confirmed in time: exec edge: /)
    expect(said).toContain(message)
    expect(patched).toEqual([])
    expect(bed.images()).not.toContain(image)
    expect(drainsSent(program)).toBe(0)
    expect(await program.settings()).toEqual(before)
  })
})
