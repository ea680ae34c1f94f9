import { expect, test } from 'vitest'
import { writeJournal } from '../journal/journal.ts'
import { rawPod } from '../pods/testing/raw-pod.ts'
import { JOURNAL_KEY, podView } from '../pods/view.ts'
import { lonePods } from './lone-pods.ts'

const V2 = [{ container: 'app', image: 'registry/app:v2' }]
const BEGUN = writeJournal({ run: 'r', epoch: 1, attempt: 1, step: 'drain', baseline: [], targets: [] })

/** The codes of the refusals of a bare pod. */
function refused(policy: string | undefined, { tag = 'v1', annotations = {}, phase = 'Running' } = {}): string[] {
  const raw = rawPod({ containers: [{ name: 'app', image: `registry/app:${tag}` }], annotations, phase })
  if (policy !== undefined) raw.spec.restartPolicy = policy
  const pod = podView(raw)
  const workload = lonePods({ pods: [pod], ownership: { type: 'none' }, acceptTemplateDrift: false })
  return workload.assess(V2, [pod]).refusals.map(({ code }) => code)
}

test('a bare pod whose container is not started again in every case is refused', () => {
  expect(refused('Never')).toEqual(['restart-policy'])
  expect(refused('OnFailure')).toEqual(['restart-policy'])
  expect(refused('Always')).toEqual([])
  expect(refused(undefined), 'as the API server has it').toEqual([])
})

test('not one that is not patched, nor one that is half done: that would stay out', () => {
  expect(refused('Never', { tag: 'v2' })).toEqual([])
  expect(refused('Never', { phase: 'Succeeded' })).toEqual([])
  expect(refused('Never', { annotations: { [JOURNAL_KEY]: BEGUN } })).toEqual([])
})
