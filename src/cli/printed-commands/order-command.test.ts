import { POD } from '../../workloads/kinds/pod.ts'
import { expect, test } from 'vitest'
import { podResult, runResult, samplePlan } from '../testing/samples.ts'
import { endCommand, liftCommand } from './order-command.ts'

const plan = { workloads: [...samplePlan.workloads, { ...POD, name: 'solo', namespace: 'shop' }] }
const flags = { namespace: 'shop', kubeconfig: 'a b', config: 'c.yaml', acceptTemplateDrift: true }
const invocation = { program: 'kubectl sluice' }

test('a pause is lifted where it was given, of all that the run is about, without what that command does not take', () => {
  expect(liftCommand(plan, flags, invocation, { SLUICE_CONFIG: 'd.yaml' }).shell).toBe(
    "kubectl sluice resume statefulset/web pod/solo --namespace shop --kubeconfig 'a b'",
  )
})

const back = [podResult({ pod: 'web-1', outcome: 'rolledBack' }), podResult({ pod: 'web-0', outcome: 'upgraded' })]
const late = [podResult({ pod: 'web-1', outcome: 'failed', deadline: 'drain' })]
const home = [podResult({ pod: 'web-1', outcome: 'upgraded' })]

test.each([
  { what: 'a rollback', result: runResult({ outcome: 'rolledBack', pods: back }), ends: true },
  { what: 'a late drain', result: runResult({ outcome: 'deadline', pods: late }), ends: true },
  { what: 'a deadline with all pods home', result: runResult({ outcome: 'deadline', pods: home }), ends: false },
  { what: 'a deadline before the run began', result: runResult({ run: '', outcome: 'deadline', pods: late }), ends: false },
  { what: 'a failure, which is to be taken back', result: runResult({ outcome: 'failed', pods: late }), ends: false },
])('after $what a command that ends the run: $ends', ({ result, ends }) => {
  const command = "kubectl sluice abort statefulset/web pod/solo --namespace shop --kubeconfig 'a b' --config c.yaml"
  expect(endCommand(result, plan, flags, invocation)?.shell).toBe(ends ? command : undefined)
})
