import { describe, expect, test } from 'vitest'
import type { KubeClient } from '../kube/client.ts'
import { KubeError } from '../kube/errors.ts'
import { testPod } from '../pods/testing/raw-pod.ts'
import { prepareWorkloads } from './prepare-workloads.ts'
import type { World } from './world.ts'

const images = [{ container: 'app', image: 'registry/app:v2' }]
const pods = ['web-2', 'web-1', 'web-0'].map((name) => ({
  pod: testPod({ name, uid: `uid-${name}`, containers: [{ name: 'app', image: 'registry/app:v2' }] }),
  stored: { kind: 'none' as const },
}))

/** Pods that run the images already, and only lack the label. */
function labelling({
  isOwned = async () => true,
  onPatch = () => {},
}: {
  isOwned?(): Promise<boolean>
  onPatch?(pod: string): void
}) {
  const patched: string[] = []
  const told: unknown[] = []
  const stopping = new AbortController()
  const workload = {
    ref: { kind: 'StatefulSet', name: 'web' },
    prepare: async () => {},
    owns: () => true,
    hasRevision: () => false,
    podOperations: () => [],
  }
  const world = {
    workloads: [{ workload, assessment: { images } }],
    store: { all: () => pods, observe() {} },
    includes: () => true,
  } as unknown as World
  const client = {
    async patch(path: string, _operations: unknown, options?: { signal?: AbortSignal }) {
      const pod = path.slice(path.lastIndexOf('/') + 1)
      patched.push(pod)
      onPatch(pod)
      options?.signal?.throwIfAborted()
    },
  } as unknown as KubeClient
  const { signal } = stopping
  const work = prepareWorkloads({ world, client, namespace: 'shop', signal, isOwned, tell: (event) => void told.push(event) })
  return { work, patched, told, stop: () => stopping.abort(new Error('interrupted')) }
}

describe('pods that only lack the label of the new revision', () => {
  test('get it', async () => {
    const { work, patched } = labelling({})
    await work
    expect(patched).toEqual(['web-2', 'web-1', 'web-0'])
  })

  test('one of which the API server refuses it is told, and the others get it', async () => {
    const { work, patched, told } = labelling({
      onPatch(pod) {
        if (pod !== 'web-1') return
        throw new KubeError('no', { kind: 'definite', method: 'PATCH', path: `pods/${pod}`, status: 403, reason: 'Forbidden' })
      },
    })
    await work
    expect(patched).toEqual(['web-2', 'web-1', 'web-0'])
    const because = { code: 'api-error', status: 403 }
    expect(told).toMatchObject([{ type: 'warning', pod: 'web-1', reason: { code: 'revision-label-not-set', because } }])
  })

  test('get none after an interrupt, and it is no trouble with that label', async () => {
    const { work, patched, told, stop } = labelling({ onPatch: () => stop() })
    await expect(work).rejects.toThrow('interrupted')
    expect([patched, told]).toEqual([['web-2'], []])
  })

  test('get none once the Lease is another’s', async () => {
    let asked = 0
    const { work, patched } = labelling({ isOwned: async () => ++asked <= 2 })
    await expect(work).rejects.toMatchObject({ name: 'RunError', kind: 'conflict' })
    expect(patched).toEqual(['web-2', 'web-1'])
  })
})
