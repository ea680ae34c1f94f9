import { expect, test } from 'vitest'
import type { KubeClient } from '../kube/client.ts'
import { createVirtualClock } from '../kube/testing/virtual-clock.ts'
import type { ObservedEvent } from '../observer/events.ts'
import type { ObserverOptions } from '../observer/observer.ts'
import type { Told } from '../observer/told.ts'
import type { Cluster } from './cluster.ts'
import type { ObserveOptions } from './observe-options.ts'
import { observe, replayObservation } from './observe.ts'

/** A cluster whose API server does not answer. */
function away(asked: string[]): Cluster {
  const refuse = (path: string): Promise<never> => {
    asked.push(path)
    return Promise.reject(new Error('no answer'))
  }
  const verbs = ['get', 'create', 'replace', 'patch', 'delete', 'watch']
  const client = Object.fromEntries(verbs.map((verb) => [verb, refuse])) as unknown as KubeClient
  return { client, namespace: 'shop', close: async () => {} }
}

function given(own: Partial<ObserveOptions> = {}, asked: string[] = []): ObserveOptions {
  const stopping = new AbortController()
  return {
    clusters: [{ name: 'east', cluster: away(asked) }],
    signal: stopping.signal,
    onTold: () => {},
    clock: createVirtualClock(),
    random: { next: () => 0.5 },
    ...own,
  }
}

test.each([
  [{ clusters: [] }, 'clusters'],
  [
    {
      clusters: [
        { name: 'a', cluster: away([]) },
        { name: 'a', cluster: away([]) },
      ],
    },
    'clusters',
  ],
  [{ graceMs: -1 }, 'graceMs'],
  [{ pollMs: 0.5 }, 'pollMs'],
  [{ everyMs: 5 } as object, 'everyMs'],
  [{ config: { loadBalancers: [] } } as object, 'config'],
  [{ namespace: 'No Such' }, 'namespace'],
  [{ namespace: 'shop', allNamespaces: true }, 'allNamespaces'],
  [{ onTold: undefined as never }, 'onTold'],
])('%o is refused, and nothing is asked', async (own, field) => {
  const asked: string[] = []
  await expect(observe(given(own, asked))).rejects.toMatchObject({ name: 'RequestError', issues: [{ field }] })
  expect(asked).toEqual([])
})

test('the namespace is that of the cluster, another, or all; the signal ends it with a summary; events replay to the same', async () => {
  for (const [own, path] of [
    [{}, '/api/v1/namespaces/shop/pods'],
    [{ namespace: 'other' }, '/api/v1/namespaces/other/pods'],
    [{ allNamespaces: true }, '/api/v1/pods'],
  ] as const) {
    const asked: string[] = []
    const stopping = new AbortController()
    const clock = createVirtualClock()
    const [told, events]: [Told[], ObservedEvent[]] = [[], []]
    let options: ObserverOptions | undefined
    const result = observe(
      given(
        {
          ...own,
          clock,
          signal: stopping.signal,
          onStart: (started) => (options = started),
          onEvent: (event) => events.push(event),
          onTold: (one) => told.push(one),
        },
        asked,
      ),
    )
    await clock.runUntil(() => told.length > 0)
    stopping.abort()
    await clock.settle()
    const summary = await result
    expect(asked.some((one) => one.startsWith(`${path}?`))).toBe(true)
    expect(summary.findings).toEqual([{ code: 'cluster-unreachable', times: 1 }])
    const again: Told[] = []
    expect(await replayObservation(options!, events, (one) => again.push(one))).toEqual(summary)
    expect(again).toEqual(told)
  }
})
