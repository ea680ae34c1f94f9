import { expect, test } from 'vitest'
import type { ListedEntry } from '../../adapters/contract.ts'
import type { LoadBalancer } from '../engine/request.ts'
import type { KubeClient } from '../kube/client.ts'
import { createFakeApi } from '../workloads/testing/fake-api.ts'
import type { Pod } from './objects.ts'
import { readLoadBalancers } from './read-load-balancers.ts'
import { pod, read } from './testing/healthy.ts'

/* Tests of servers without a pod: the findings about entries of a load balancer, by the pods of one namespace or of all. */

function at(namespace: string, name: string, ips: readonly string[], status: object = {}): Pod {
  const made = pod(0)
  return {
    ...made,
    metadata: { ...made.metadata, namespace, name, uid: `uid-of-${name}`, resourceVersion: '1' } as Pod['metadata'],
    status: { ...made.status, podIP: ips[0]!, podIPs: ips.map((ip) => ({ ip })), ...status },
  }
}

/** The findings where the load balancer has these addresses. All namespaces are examined where `namespace` is absent. */
async function told(addresses: readonly string[], pods: readonly Pod[], namespace?: string) {
  const asked: string[] = []
  const client: KubeClient = {
    ...createFakeApi().client,
    // The API server selects by the first address alone, and includes pods that have finished.
    async get(path) {
      const [, address] = /status\.podIP=(.*)$/.exec(new URLSearchParams(path.split('?')[1]).get('fieldSelector') ?? '') ?? []
      asked.push(address!)
      return { metadata: { resourceVersion: '1' }, items: pods.filter(({ status }) => status?.podIP === address) }
    },
  }
  const entries = addresses.map((address): ListedEntry => ({ id: `s@${address}`, address, port: 80 }))
  const adapter = { resolve: async (some: unknown[]) => some.map(() => ({ found: false })), entries: async () => entries }
  const edge = { name: 'edge', adapterName: 'test', adapter, port: 8080 } as unknown as LoadBalancer
  const here = pods.filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace)
  const given = { pods: read(here), ...(namespace === undefined ? {} : { namespace }) }
  const [state] = await readLoadBalancers([edge], given, client)
  const { strays, unasked } = state!
  return { strays: strays?.ok ? strays.value.map(({ address }) => address) : strays, unasked, asked }
}

const HERE = at('shop', 'web-0', ['10.0.0.1', 'fd00::1'])
const ELSEWHERE = at('other', 'far-0', ['10.0.0.2', 'fd00::2'])

test('an address of a pod of another namespace is asked for, and one of no pod is told', async () => {
  expect(await told(['10.0.0.1', 'fd00::1', '10.0.0.2', '10.0.0.9'], [HERE, ELSEWHERE], 'shop')).toEqual({
    strays: ['10.0.0.9:80'],
    unasked: undefined,
    asked: ['10.0.0.2', '10.0.0.9'],
  })
})

test('an address of the second family cannot be asked for: it is counted, and told where all pods are known', async () => {
  expect(await told(['fd00::2', 'fd00::9'], [HERE, ELSEWHERE], 'shop')).toEqual({ strays: [], unasked: 2, asked: [] })
  expect(await told(['fd00::2', 'fd00::9'], [HERE, ELSEWHERE])).toMatchObject({ strays: ['[fd00::9]:80'], unasked: undefined })
})

test('what is beyond those that are asked for is counted, and told where all pods are known', async () => {
  const many = Array.from({ length: 60 }, (_, index) => `10.0.9.${index}`)
  const some = await told(many, [HERE], 'shop')
  expect([(some.strays as string[]).length, some.unasked]).toEqual([50, 10])
  const all = await told(many, [HERE])
  expect([(all.strays as string[]).length, all.unasked]).toEqual([60, undefined])
})

test('a pod that is finished has no address any more, and one that terminates has its own', async () => {
  const finished = [
    at('shop', 'job-0', ['10.0.0.7'], { phase: 'Failed' }),
    at('other', 'job-1', ['10.0.0.8'], { phase: 'Succeeded' }),
  ]
  const going = at('shop', 'web-1', ['10.0.0.3', 'fd00::3'])
  const terminating = { ...going, metadata: { ...going.metadata, deletionTimestamp: '2026-01-01T12:00:30Z' } }
  const addresses = ['10.0.0.3', 'fd00::3', '10.0.0.7', '10.0.0.8']
  const result = await told(addresses, [HERE, terminating, ...finished], 'shop')
  expect(result).toMatchObject({ strays: ['10.0.0.7:80', '10.0.0.8:80'], unasked: undefined })
})
