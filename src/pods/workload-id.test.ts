import { expect, test } from 'vitest'
import { displayName, isOwnedBy, isSameWorkload, kindOfOwner, ownerId, type WorkloadId } from './workload-id.ts'

const WEB: WorkloadId = { group: 'apps', version: 'v1', kind: 'StatefulSet', plural: 'statefulsets', name: 'web' }
const KRUISE: WorkloadId = { ...WEB, group: 'apps.kruise.io', version: 'v1beta1' }
const POD: WorkloadId = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', name: 'web-0' }
const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' }

test('the kinds of Kubernetes are shown without their group, others by plural and group', () => {
  expect([WEB, KRUISE, POD].map(displayName)).toEqual(['statefulset/web', 'statefulsets.apps.kruise.io/web', 'pod/web-0'])
  expect(displayName({ ...WEB, group: 'batch', kind: 'Job', plural: 'jobs' })).toBe('jobs.batch/web')
})

test('a workload is the same by group, kind and name, whatever its version', () => {
  const newer: WorkloadId = { ...WEB, version: 'v2' }
  expect(isSameWorkload(WEB, newer)).toBe(true)
  expect([KRUISE, { ...WEB, name: 'api' }, { ...WEB, kind: 'DaemonSet' }].filter((one) => isSameWorkload(WEB, one))).toEqual([])
})

test('an owner reference is of the group in its apiVersion', () => {
  expect(kindOfOwner(owner)).toEqual({ group: 'apps', kind: 'StatefulSet' })
  expect(kindOfOwner({ apiVersion: 'v1', kind: 'Node' })).toEqual({ group: '', kind: 'Node' })
  expect([isOwnedBy({ owner }, WEB), isOwnedBy({ owner }, KRUISE), isOwnedBy({}, WEB)]).toEqual([true, false, false])
  expect(isOwnedBy({ owner: { ...owner, apiVersion: 'apps.kruise.io/v1beta1' } }, KRUISE)).toBe(true)
  expect(displayName(ownerId({ apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout', name: 'shop' }))).toBe(
    'rollouts.argoproj.io/shop',
  )
})
