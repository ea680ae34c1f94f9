import { expect, test } from 'vitest'
import { hasChanges } from '../../plan/has-changes.ts'
import { createWriting } from '../../report/words/words.ts'
import { samplePlan } from '../testing/samples.ts'
import { createColors } from './color.ts'
import { planDocument, planLines } from './plan-view.ts'
import type { Refusal } from '../../plan/plan.ts'
import type { Command } from '../../reasons/command.ts'

const colors = createColors(false)
const write = createWriting()

test('a plan, pod by pod', () => {
  expect(planLines(samplePlan, colors, write)).toEqual([
    'statefulset/web in namespace shop: 1 to upgrade, 1 to skip; at most 1 out of rotation at once',
    '',
    'POD    ACTION   IMAGES                    TARGETS                                     REASON',
    'web-1  upgrade  app: r/app:v1 → r/app:v2  edge: web/web1                              in rotation',
    'web-0  skip     -                         edge: web/web0 (out of rotation, stays so)  it runs the wanted images already',
    '',
    'The template of statefulset/web is patched first: app: r/app:v1 → r/app:v2',
    '',
    'edge (haproxy) G1: one drain and one restore per pod, in order, given that a call lives a bounded time; anything else is detected and repaired',
    '',
    'warning: statefulset/web has minReadySeconds 10: a pod is put back once it has been Ready for 10 s, since rollout.readyFor is shorter',
  ])
})

test('a plan says on which nodes an image is not yet, and that nothing has checked whether it exists', () => {
  const lines = (present: string[], absent: string[], unknown: string[]) =>
    planLines({ ...samplePlan, imagesOnNodes: [{ image: 'r/app:v2', present, absent, unknown }] }, colors, write)
  const pulls = ': the kubelet pulls it there while the pod is out of rotation; whether it exists is not checked'
  expect(lines(['a', 'b'], [], [])).toContain('r/app:v2 is on the nodes of its pods already')
  expect(lines(['a'], ['b', 'c'], ['d'])).toContain(`r/app:v2 is not on nodes b, c, and may not be on node d${pulls}`)
  expect(lines([], ['1', '2', '3', '4', '5', '6', '7'], [])).toContain(
    `r/app:v2 is not on nodes 1, 2, 3, 4, 5 and 2 more${pulls}`,
  )
})

test('a plan says in which order a pod leaves its load balancers, where there is one', () => {
  const ordered = { ...samplePlan, drainOrder: [['edge'], ['inner', 'mesh']] }
  const line = 'A pod is drained in edge, then in inner and mesh; it is put back in reverse'
  expect(planLines(ordered, colors, write)).toContain(line)
  expect(planDocument(ordered, write)).toMatchObject({ drainOrder: ordered.drainOrder })
  // Control: the plan without a drain order.
  expect(planLines(samplePlan, colors, write)).not.toContain(line)
})

test('the plan of an undo says which run it takes back', () => {
  const undo = { ...samplePlan, undoes: { run: 'r6', images: [{ container: 'app', image: 'r/app:v2' }] } }
  expect(planLines(undo, colors, write).slice(0, 2)).toEqual([
    'Takes back run r6: app=r/app:v2',
    planLines(samplePlan, colors, write)[0],
  ])
  expect(planDocument(undo, write)).toMatchObject({ undoes: undo.undoes })
})

test('what is left out of rotation for pods that are gone is a change, and is named', () => {
  const nothing = { ...samplePlan, pods: [], templates: [] }
  const left = { ...nothing, leftOut: [{ loadBalancer: 'edge', target: 'web/web-2' }] }
  expect([hasChanges(nothing), hasChanges(left)]).toEqual([false, true])
  expect(planLines(left, colors, write)).toContain(
    'An earlier run may have left out of rotation, for pods that are gone: edge: web/web-2; the run settles this first',
  )
})

test('refusals say what to change', () => {
  const change: Command = { command: 'kubectl', namespace: 'shop', args: ['patch', 'statefulset/web', '-p', '{}'] }
  const refusals: Refusal[] = [{ code: 'update-strategy', workload: 'statefulset/web', strategy: 'RollingUpdate', change }]
  const message =
    'statefulset/web has the update strategy RollingUpdate: its controller would delete and recreate the pods, without a drain, as soon as the template changes'
  const hint =
    'Change it. From then on a change of the template waits: the controller replaces a pod only after something deleted it.'
  const shell = `kubectl -n shop patch statefulset/web -p '{}'`
  expect(planLines({ ...samplePlan, pods: [], templates: [], guarantees: [], warnings: [], refusals }, colors, write)).toEqual([
    'statefulset/web in namespace shop: no pods; at most 1 out of rotation at once',
    '',
    `refused: ${message} [update-strategy]`,
    `    ${hint}`,
    `      ${shell}`,
  ])
  expect(planDocument({ ...samplePlan, refusals }, write)).toMatchObject({
    refusals: [{ ...refusals[0], message, hint, change: { ...change, shell } }],
  })
})

test('pods and templates make changes; skipped pods make none', () => {
  const [upgrade, skip] = samplePlan.pods
  const nothing = { ...samplePlan, templates: [], pods: [skip!] }
  expect(hasChanges(nothing)).toBe(false)
  expect(hasChanges({ ...nothing, templates: samplePlan.templates })).toBe(true)
  expect(hasChanges({ ...nothing, pods: [upgrade!] })).toBe(true)
  expect(hasChanges({ ...nothing, pods: [{ ...skip!, action: 'adopt' }] })).toBe(true)
  expect(planDocument(nothing, write)).toMatchObject({ apiVersion: 'sluice.dev/v1', kind: 'Plan', changes: false, window: 1 })
})

test('a deadline that is shorter than the proof which it waits for is told in words, with its pods', () => {
  const raised = { deadline: 'restart', configuredMs: 40_000, raisedMs: 60_000 } as const
  const lines = (pods: string[]): string[] => planLines({ ...samplePlan, raisedDeadlines: [{ ...raised, pods }] }, colors, write)
  expect(lines(['web-0'])).toContain(
    'deadlines.restart is 40 s; where nothing but time proves a restart it is raised, to 60 s after the new container has started: the kubelet of web-0 reports no generation',
  )
  const seven = Array.from({ length: 7 }, (_, at) => `web-${at}`)
  expect(lines(seven).join('\n')).toContain('kubelets of web-0, web-1, web-2, web-3, web-4 and 2 more report no generation')
  expect(planLines(samplePlan, colors, write).join('\n')).not.toContain('deadlines.restart')
})
