import { expect, test } from 'vitest'
import { createAddresses } from '../addresses.ts'
import { createApiServer } from '../api-server/api-server.ts'
import { createCluster } from '../cluster.ts'
import { createVirtualTime, seededRandom } from '../testing/virtual-time.ts'
import type { ContainerHost, ContainerNews } from './container-host.ts'
import { isReady, type Pod } from './pod.ts'

/* A host of the test runs the containers, in place of the simulated host. */

function start() {
  const calls: string[] = []
  const running = new Map<string, { tell: ContainerNews; address: string; image: string; stopped?: () => void }>()
  const host: ContainerHost = {
    addresses: createAddresses('127.20', false),
    start({ id, pod, spec, address }, tell) {
      calls.push(`start ${pod.metadata.name} ${spec.image} at ${address}`)
      running.set(id, { tell, address, image: spec.image })
    },
    stop(id, graceMs, done) {
      calls.push(`stop ${running.get(id)?.image} within ${graceMs} ms`)
      running.get(id)!.stopped = done
    },
    kill: (id, code) => running.get(id)!.tell.exited(code),
  }
  const clock = createVirtualTime()
  const random = seededRandom(1)
  const apiServer = createApiServer({ clock, random })
  const images = { 'app:v1': { digest: 'sha256:1' }, 'app:v2': { digest: 'sha256:2' } }
  const cluster = createCluster({ clock, random, apiServer, images, host })
  cluster.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web' },
    spec: { containers: [{ name: 'app', image: 'app:v1', readinessProbe: { periodSeconds: 1, failureThreshold: 1 } }] },
  })
  const pod = (): Pod => apiServer.store.get('pods', 'default', 'web') as Pod
  const newest = () => [...running.values()].at(-1)!
  clock.until('a started container', () => running.size === 1)
  return { calls, running, clock, cluster, pod, newest }
}

test('a pod is ready when its host says so, at the address of the host, and no longer than that', () => {
  const { calls, clock, pod, newest } = start()
  expect(calls).toEqual(['start web app:v1 at 127.20.0.2'])
  clock.advance(60_000)
  expect(isReady(pod())).toBe(false)
  newest().tell.answers(true)
  clock.until('Ready', () => isReady(pod()))
  expect(pod().status!.podIP).toBe('127.20.0.2')
  newest().tell.answers(false)
  clock.until('not Ready', () => !isReady(pod()))
})

test('an image change waits for the end of the old container, and nothing of an old one counts', () => {
  const { calls, clock, cluster, pod, newest } = start()
  const old = newest()
  old.tell.answers(true)
  clock.until('Ready', () => isReady(pod()))
  cluster.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web' },
    spec: { ...pod().spec, containers: [{ ...pod().spec.containers[0]!, image: 'app:v2' }] },
  })
  clock.advance(60_000)
  expect(calls.slice(1)).toEqual(['stop app:v1 within 30000 ms'])
  old.tell.exited(0)
  old.stopped!()
  clock.until('the new container', () => newest() !== old)
  expect(calls.slice(2)).toEqual(['start web app:v2 at 127.20.0.2'])
  old.tell.answers(true)
  clock.advance(60_000)
  expect(isReady(pod())).toBe(false)
  newest().tell.answers(true)
  clock.until('Ready again', () => isReady(pod()))
  expect(pod().status!.containerStatuses![0]).toMatchObject({ imageID: 'sha256:2', restartCount: 1 })
})

test('a container that ends by itself is started anew', () => {
  const { calls, clock, cluster, newest } = start()
  newest().tell.exited(3)
  clock.until('another', () => calls.length === 2)
  cluster.crashContainer('default', 'web', 'app')
  clock.until('a third, after a back-off', () => calls.length === 3)
  expect(calls).toEqual(Array.from({ length: 3 }, () => 'start web app:v1 at 127.20.0.2'))
})
