import { expect, test } from 'vitest'
import { KINDS } from '../../workloads/kinds/index.ts'
import { type DoctorChoice, parseDoctor } from './parse-doctor.ts'

const ofCluster = { namespace: 'shop', kinds: KINDS }

test('without a word the doctor looks at the namespace of the cluster, and writes nothing', () => {
  expect(parseDoctor({}, ofCluster)).toEqual({ refs: [], ignore: [], namespace: 'shop' })
  expect(parseDoctor({ allNamespaces: true }, ofCluster)).toEqual({ refs: [], ignore: [] })
})

test('a probe is made in the namespace that is looked at, of all in that of the cluster', () => {
  expect(parseDoctor({ namespace: 'web', probe: true }, ofCluster)).toMatchObject({ namespace: 'web', probeIn: 'web' })
  expect(parseDoctor({ allNamespaces: true, probe: true }, ofCluster)).toEqual({ refs: [], ignore: [], probeIn: 'shop' })
})

test('workloads are named as everywhere', () => {
  expect(parseDoctor({ workload: 'sts/web' }, ofCluster).refs).toMatchObject([{ kind: 'StatefulSet', name: 'web' }])
})

test.each<[unknown, string]>([
  [{ workload: 'web' }, 'workload'],
  [{ allNamespaces: true, workload: 'sts/web' }, 'allNamespaces'],
  [{ allNamespaces: true, namespace: 'web' }, 'allNamespaces'],
  [{ probe: 'yes' }, 'probe'],
  [{ probing: true }, 'probing'],
  [{ ignore: ['no-such-code'] }, 'ignore[0]'],
  [Promise.resolve({}), 'request'],
])('%j is refused by its field', (choice, field) => {
  const issues = [expect.objectContaining({ field })]
  expect(() => parseDoctor(choice as DoctorChoice, ofCluster)).toThrow(expect.objectContaining({ name: 'RequestError', issues }))
})
