import { expect, test } from 'vitest'
import { imageOf, NAMESPACE, NAME } from './manifests.ts'
import { plainScene } from './scene.ts'
import { openStage } from './stage.ts'

/* Two owners at once. */

const V2 = { images: [{ container: 'app', image: imageOf('v2') }] }

// A pod that the other owner takes over must not free a place in the window of the first owner before its next renewal.
test('somebody clears the holder of a Lease, and another owner takes over the pods: the first starts no further one', async () => {
  const stage = await openStage(plainScene({ pods: 4 }))
  const first = stage.start(V2)
  await stage.until(() => first.events.some(({ type }) => type === 'effect'))
  const lease = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/sluice-statefulset-${NAME}`
  await stage.ask(stage.client.patch(lease, [{ op: 'replace', path: '/spec/holderIdentity', value: '' }]))
  const second = stage.start(V2)
  await stage.until(() => first.end !== undefined)
  expect(first.end).toMatchObject({ outcome: 'conflict' })
  const drained = first.events.flatMap((event) => (event.type === 'effect' && event.effect === 'drain' ? [event.pod] : []))
  // The first owner drains the pod that it had, and at most the pod that it began as the other owner came.
  expect(new Set(drained).size).toBeLessThanOrEqual(2)
  await stage.until(() => second.end !== undefined)
  expect(second.end).toMatchObject({ outcome: 'done' })
})
