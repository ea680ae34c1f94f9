/** Each incident as it is played, found and cured; and the same without the fault, which finds nothing. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test, type TestContext } from 'vitest'
import type { IncidentName } from '../../demo/incidents/incident.ts'
import { INCIDENTS } from '../../demo/incidents/incidents.ts'
import { type IncidentResult, playIncident } from '../../demo/incidents/play.ts'
import { incidentFaults } from '../../demo/incidents/verdict.ts'
import { createChildren } from '../../demo/processes/children.ts'
import { drainsAndRestores } from '../../demo/rotation/change.ts'
import { ROOT, startDemo, whyNotCounted } from './running-demo.ts'

const NAMES = Object.keys(INCIDENTS) as IncidentName[]

/** Its processes and files end with the test, also where it fails. */
async function play(name: IncidentName, { isCured = false } = {}, { onTestFinished }: TestContext): Promise<IncidentResult> {
  const children = createChildren()
  const folder = mkdtempSync(join(tmpdir(), 'sluice-incident-'))
  onTestFinished(async () => {
    await children.end()
    rmSync(folder, { recursive: true })
  })
  const quiet = { step: () => {}, say: () => {}, command: () => {}, line: () => {} }
  return playIncident(INCIDENTS[name], { children, folder, program: join(ROOT, 'src/cli/sluice.ts'), show: quiet, isCured })
}

const share = ({ failed, requests }: { failed: number; requests: number }): number => failed / requests

describe.concurrent('an incident is found by its codes, and not after its cure', () => {
  test('flap: without sluice an entry goes out twice for one upgrade, and requests fail; with rules, or with sluice, none fails', async (context) => {
    const result = await play('flap', {}, context)
    const { before, withRules, after } = result
    expect(incidentFaults(INCIDENTS.flap, result)).toEqual([])
    expect(before.failed).toBeGreaterThan(0)
    expect([withRules!.failed, after.failed]).toEqual([0, 0])
    const pods = ['web-0', 'web-1']
    // Whether the job looks while Ready is still that of the old container is chance; that it misses both pods is not seen.
    expect(Math.max(...pods.map((pod) => drainsAndRestores(before.changes, pod).drains))).toBeGreaterThan(1)
    for (const { changes } of [withRules!, after])
      for (const pod of pods) expect(drainsAndRestores(changes, pod), pod).toEqual({ drains: 1, restores: 1 })
    // Each pod leaves twice by its condition, with the heartbeat and with its container, and once by the rules.
    expect([before, withRules!, after].map(({ addressChanges }) => addressChanges)).toEqual([8, 4, 8])
  })

  test('heartbeat: all pods of the node leave at once, and with a longer grace none does', async (context) => {
    const result = await play('heartbeat', {}, context)
    const { before, after } = result
    expect(incidentFaults(INCIDENTS.heartbeat, result)).toEqual([])
    expect(before.failed).toBeGreaterThan(0)
    for (const pod of ['web-0', 'web-1']) expect(drainsAndRestores(before.changes, pod), pod).toEqual({ drains: 1, restores: 1 })
    expect([after.failed, after.changes]).toEqual([0, []])
  })

  test('backlog: requests go to a pod that is gone for as long as the queue takes', async (context) => {
    const result = await play('backlog', {}, context)
    expect(incidentFaults(INCIDENTS.backlog, result)).toEqual([])
    expect(share(result.before)).toBeGreaterThan(0.2)
    expect(result.before.failed).toBeGreaterThan(3 * result.after.failed)
  })

  test('selector: the addresses are gone at the next sync, and without a selector they stay', async (context) => {
    const result = await play('selector', {}, context)
    const { before, after } = result
    expect(incidentFaults(INCIDENTS.selector, result)).toEqual([])
    expect(before.failed).toBeGreaterThan(0)
    expect(before.changes.map(({ pod, isIn }) => [pod, isIn])).toContainEqual(['outside', false])
    expect([after.failed, after.changes.filter(({ isIn }) => !isIn)]).toEqual([0, []])
  })

  test('sync: pods leave the copies by their journal, before they restart, and a floor keeps the copies of a source that is away', async (context) => {
    const result = await play('sync', {}, context)
    const { before, after } = result
    expect(incidentFaults(INCIDENTS.sync, result)).toEqual([])
    expect(before.traffic.map(({ failed }) => failed > 0)).toEqual([true, true])
    expect(after.traffic.map(({ failed }) => failed)).toEqual([0, 0])
    expect(before.copyLags.map((ms) => ms > 0)).toEqual([true, true])
    expect(after.copyLags.map((ms) => ms < 0)).toEqual([true, true])
    for (const pod of ['web-0', 'web-1']) expect(drainsAndRestores(after.changes, pod), pod).toEqual({ drains: 1, restores: 1 })
    expect(after.noted).toContain('sync kept-for-floor')
  })
})

describe.concurrent('control: without the fault nothing is found, and that counts as a failure', () => {
  test.for(NAMES)('%s', async (name, context) => {
    const result = await play(name, { isCured: true }, context)
    expect(result.before.found).toEqual([])
    context
      .expect(incidentFaults(INCIDENTS[name], result))
      .toEqual(INCIDENTS[name].expected.map((one) => `it was not found: ${one}`))
  })
})

describe.concurrent('sluice demo --incident', () => {
  test('ends with 0, tells the codes, and leaves neither a process nor a file', async (context) => {
    const demo = startDemo([process.execPath, 'src/cli/sluice.ts', 'demo', '--incident', 'selector'])
    context.onTestFinished(() => demo.remove())
    expect(await demo.exit, demo.output()).toBe(0)
    expect(demo.output()).toMatch(/see docs\/observe\.md#endpoints-by-hand/)
    expect(demo.output()).toContain('after the cure nothing is found.')
    expect(demo.files()).toEqual([])
    expect(whyNotCounted === undefined ? demo.processes() : []).toEqual([])
  })

  test('Ctrl-C in the middle ends all of it', async (context) => {
    const demo = startDemo([process.execPath, 'src/cli/sluice.ts', 'demo', '--incident', 'backlog'])
    context.onTestFinished(() => demo.remove())
    await demo.sees('$ sluice observe')
    demo.signal('SIGINT')
    expect(await demo.exit).toBe(130)
    expect(demo.files()).toEqual([])
    expect(whyNotCounted === undefined ? demo.processes() : []).toEqual([])
  })

  test('it excludes what is of the three acts', async (context) => {
    const demo = startDemo([process.execPath, 'src/cli/sluice.ts', 'demo', '--incident', 'flap', '--pods', '3'])
    context.onTestFinished(() => demo.remove())
    expect(await demo.exit).toBe(2)
    expect(demo.output()).toContain("'--incident <name>' cannot be used with option '--pods <number>'")
  })
})
