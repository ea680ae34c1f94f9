import { expect, test } from 'vitest'
import type { PodPlan } from '../plan/plan.ts'
import { imagesOnNodes } from './images-on-nodes.ts'

const NEW = 'registry.example/app:v2'

function pod(name: string, node: string | undefined, fields: Partial<PodPlan> = {}): PodPlan {
  const images = [{ container: 'app', from: 'registry.example/app:v1', to: NEW }]
  return {
    uid: name,
    name,
    ...(node && { node }),
    action: 'upgrade',
    reason: { code: 'goes-on-from-patch' },
    images,
    targets: [],
    ...fields,
  }
}

/** A client with these nodes and the names of their images; other nodes are not readable. */
function clientOf(nodes: Record<string, string[][]>) {
  const asked: string[] = []
  return {
    asked,
    async get(path: string) {
      asked.push(path)
      const images = nodes[path.replace('/api/v1/nodes/', '')]
      if (images === undefined) throw new Error('forbidden')
      return { kind: 'Node', status: { images: images.map((names) => ({ names, sizeBytes: 1 })) } }
    },
  }
}

test('an image is on a node, is not, or cannot be known', async () => {
  const full = Array.from({ length: 50 }, (_, index) => [`other:${index}`])
  const client = clientOf({ a: [['x@sha256:1', NEW], ['other:v1']], b: [['registry.example/app:v1']], full })
  const pods = [pod('web-0', 'a'), pod('web-1', 'b'), pod('web-2', 'full'), pod('web-3', 'hidden'), pod('web-4', 'b')]
  expect(await imagesOnNodes(client, { pods })).toEqual([
    { image: NEW, present: ['a'], absent: ['b'], unknown: ['full', 'hidden'] },
  ])
  expect(client.asked).toHaveLength(4)
})

test('a short name is the one that the node spells out', async () => {
  const client = clientOf({ a: [['docker.io/library/nginx:latest']] })
  const images = [{ container: 'app', from: 'nginx:1', to: 'nginx' }]
  expect(await imagesOnNodes(client, { pods: [pod('web-0', 'a', { images })] })).toMatchObject([{ present: ['a'] }])
})

test('no node is asked for a pod that is skipped, or has no node', async () => {
  const client = clientOf({})
  expect(await imagesOnNodes(client, { pods: [pod('web-0', 'a', { action: 'skip' }), pod('web-1', undefined)] })).toEqual([])
  expect(client.asked).toEqual([])
})
