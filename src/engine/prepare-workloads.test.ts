import { describe, expect, test } from 'vitest'
import type { KubeClient } from '../kube/client.ts'
import { testPod } from '../pods/testing/raw-pod.ts'
import { prepareWorkloads } from './prepare-workloads.ts'
import type { World } from './world.ts'

const images = [{ container: 'app', image: 'registry/app:v2' }]
const pods = ['web-2', 'web-1', 'web-0'].map((name) => ({
  pod: testPod({ name, uid: `uid-${name}`, containers: [{ name: 'app', image: 'registry/app:v2' }] }),
  stored: { kind: 'none' as const },
}))

/** Pods that run the images already, and lack the label alone. */
function labelling({ isOwned = async () => true, onPatch = () => {} }: { isOwned?(): Promise<boolean>; onPatch?(): void }) {
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
      patched.push(path.slice(path.lastIndexOf('/') + 1))
      onPatch()
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
