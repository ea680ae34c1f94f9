import { waitWords } from './told.ts'
import { expect, test } from 'vitest'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'
import { PLAIN_SETTINGS, plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { isIn, openStage } from './stage.ts'
import { ended } from './story.ts'

/*
 * A pod is back when its Service endpoints are as before. Endpoints that were not ready before the drain are not waited for. Endpoints that
 * were ready are, also by another process and under another name of the slice.
 */

const SLICES = 'endpointslices.discovery.k8s.io'
const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by'
const SERVICE = 'kubernetes.io/service-name'
const V2 = { images: [{ container: 'app', image: imageOf('v2') }] }
const SHORT = { ...PLAIN_SETTINGS, readyDeadlineMs: 20_000 }

const open = (): Promise<Stage> => openStage(plainScene({ pods: 1, service: true }))
const store = ({ world }: Stage) => world.server.store

/** Adds a slice of another controller that has the pod. */
function addForeign(stage: Stage, ready: boolean, name = 'by-hand'): void {
  const pod = stage.world.pods()[0]!.metadata
  store(stage).create(
    SLICES,
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name, namespace: NAMESPACE, labels: { [SERVICE]: NAME, [MANAGED_BY]: 'mesh.example' } },
      addressType: 'IPv4',
      endpoints: [
        {
          addresses: ['10.9.9.9'],
          conditions: { ready },
          targetRef: { kind: 'Pod', namespace: NAMESPACE, name: pod.name, uid: pod.uid },
        },
      ],
      ports: [],
    },
    'operator',
  )
}

function setForeign(stage: Stage, ready: boolean, name = 'by-hand'): void {
  store(stage).update(
    SLICES,
    NAMESPACE,
    name,
    (now) => ({ ...now, endpoints: (now['endpoints'] as object[]).map((one) => ({ ...one, conditions: { ready } })) }),
    'operator',
  )
}

function waitedFor({ events }: Actor): string[] {
  return events.flatMap((one) => (one.type === 'podDetail' || one.type === 'podState' ? waitWords(one) : []))
}

test('a slice of another controller that says no all along holds up no pod', async () => {
  const stage = await open()
  addForeign(stage, false)
  expect(await ended(stage, stage.start({ ...V2, settings: SHORT }))).toMatchObject({
    outcome: 'done',
    pods: [{ outcome: 'upgraded' }],
  })
})

test('one that said yes, and says no now, does, and is named', async () => {
  const stage = await open()
  addForeign(stage, true)
  const run = stage.start({ ...V2, settings: SHORT })
  await stage.until(() => isIn('restarting')(run))
  setForeign(stage, false)
  expect(await ended(stage, run)).toMatchObject({
    outcome: 'failed',
    pods: [{ outcome: 'failed', reason: expect.stringContaining('not ready in EndpointSlice by-hand') }],
  })
})

test('the process that takes it over waits for it too, also under another name', async () => {
  const stage = await open()
  addForeign(stage, true)
  const killed = stage.start({ ...V2, settings: SHORT })
  await stage.until(() => isIn('restarting')(killed))
  killed.host.kill()
  setForeign(stage, false)
  store(stage).remove(SLICES, NAMESPACE, 'by-hand', 'operator')
  addForeign(stage, false, 'made-anew')
  const next = stage.start({ ...V2, settings: { ...SHORT, readyDeadlineMs: 60_000 } })
  await stage.until(() => waitedFor(next).some((text) => text.includes('EndpointSlice made-anew')))
  setForeign(stage, true, 'made-anew')
  expect(await ended(stage, next)).toMatchObject({ outcome: 'done', pods: [{ outcome: 'upgraded' }] })
})

test('one that appears only afterwards, and says no, holds up no pod', async () => {
  const stage = await open()
  const run = stage.start({ ...V2, settings: SHORT })
  await stage.until(() => isIn('emptying')(run))
  addForeign(stage, false)
  expect(await ended(stage, run)).toMatchObject({ outcome: 'done', pods: [{ outcome: 'upgraded' }] })
})

test('control: the endpoint of the cluster’s own controller is waited for', async () => {
  const stage = await open()
  const run = stage.start(V2)
  await ended(stage, run)
  expect(waitedFor(run)).toContainEqual(expect.stringContaining('its Service endpoint is not back yet'))
})
