import { expect, test } from 'vitest'
import type { Service } from '../endpoints/objects.ts'
import { service } from '../endpoints/testing/objects.ts'
import { createClusterState } from './cluster-state.ts'
import { seenPod } from './testing/scene.ts'

const COUNT = 200
const common = { 'a.example/part-of': 'shop', tier: 'front' }
const labelsOf = (index: number) => ({ ...common, app: `s${index}` })

/** Services whose selectors share all labels but one, and the number of reads of their specs. */
function countedServices() {
  let looks = 0
  const services = Array.from({ length: COUNT }, (_, index): Service => {
    const { metadata, spec } = service({ selector: labelsOf(index) }, { name: `s${index}`, uid: `uid-of-s${index}` })
    return {
      metadata,
      get spec() {
        looks += 1
        return spec
      },
    }
  })
  return { services, looks: () => looks }
}

test('a pod visits the Services that may select it, whatever labels all selectors have in common', () => {
  const { services, looks } = countedServices()
  const state = createClusterState()
  for (const one of services) state.putService(one)
  const before = looks()
  const touched = state.putPod(seenPod('web-0', { labels: labelsOf(7) }))
  expect(touched.map(({ service: { name } }) => name)).toEqual(['s7'])
  expect(looks() - before).toBeLessThan(COUNT / 4)
})

test('a Service visits the pods that it may select, whatever labels all pods have in common', () => {
  let looks = 0
  const state = createClusterState()
  for (let index = 0; index < COUNT; index += 1) {
    const pod = seenPod(`web-${index}`, { labels: labelsOf(index) })
    const { labels } = pod.metadata
    const metadata = {
      ...pod.metadata,
      get labels() {
        looks += 1
        return labels!
      },
    }
    state.putPod({ ...pod, metadata })
  }
  const before = looks
  const touched = state.putService(service({ selector: labelsOf(7) }, { name: 's7', uid: 'uid-of-s7' }))
  expect(touched.map(({ pod }) => pod)).toEqual(['uid-of-web-7'])
  expect(looks - before).toBeLessThan(COUNT / 4)
})

test('a Service whose selector is changed, or that goes, is found by it no more', () => {
  const state = createClusterState()
  const of = (selector: Record<string, string>) => service({ selector }, { name: 'web', uid: 'uid-of-web' })
  const found = (labels: Record<string, string>) => state.putPod(seenPod('web-0', { labels })).length > 0
  state.putService(of({ app: 'web', tier: 'front' }))
  state.putService(of({ app: 'job', tier: 'front' }))
  expect([found({ app: 'job', tier: 'front' }), found({ app: 'web', tier: 'back' })]).toEqual([true, true])
  expect([...state.services.get('shop/web')!.wanted]).toEqual([])
  state.putService(of({}))
  expect(found({ app: 'job', tier: 'front' })).toBe(false)
  state.removeService('shop', 'web')
  expect(found({ app: 'job', tier: 'front' })).toBe(false)
})
