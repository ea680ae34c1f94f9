import { expect, test } from 'vitest'
import { mixedWorkloads } from './mixed-workloads.ts'
import { runResult } from '../testing/samples.ts'

test('the command goes where the one that ended the run went', () => {
  const mixed = [{ workload: 'statefulset/web', upgraded: 1, pods: 3 }]
  const result = runResult({ outcome: 'aborted', mixed })
  expect(mixedWorkloads(result, { namespace: 'shop', context: 'a b' }, { program: 'sluice' }, { SLUICE_CONFIG: 'c' })).toEqual([
    { ...mixed[0], command: "sluice upgrade statefulset/web --namespace shop --context 'a b' --config c" },
  ])
  expect(mixedWorkloads(runResult(), {}, { program: 'sluice' })).toEqual([])
})
