import { afterEach, expect, test } from 'vitest'
import { serve, type Served } from '../server/serve.ts'
import { ask } from '../server/testing/ask.ts'
import { createMetrics, type Metrics } from './create-metrics.ts'
import { CLOSED_LABELS } from './labels.ts'
import { commandOf, METRICS, type MetricDefinition } from './metric-list.ts'
import { parseMetrics } from './testing/parse-metrics.ts'

const definitions = Object.entries<MetricDefinition>(METRICS).filter(([name]) => commandOf(name) === 'observe')
let served: Served | undefined
afterEach(async () => {
  await served?.close({ graceMs: 0 })
  served = undefined
})

async function scrape(metrics: Metrics) {
  served ??= await serve({ listen: '127.0.0.1:0', notReady: () => [], metrics })
  const { status, headers, body } = await ask(`${served.url}/metrics`)
  expect([status, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
  return parseMetrics(body)
}

test('/metrics has each metric of the list with its type, and no other', async () => {
  const families = await scrape(createMetrics('observe'))
  expect(Object.fromEntries(Array.from(families, ([name, { type }]) => [name, type]))).toEqual(
    Object.fromEntries(definitions.map(([name, { type }]) => [name, type])),
  )
})

test('what is set, added and observed is there, with its labels', async () => {
  const metrics = createMetrics('observe')
  metrics.set('sluice_cluster_up', { cluster: 'eu "1"\n\\' }, 1)
  metrics.add('sluice_endpoint_writes_total', { cluster: 'eu', object: 'Endpoints', effect: 'nothing' })
  metrics.add('sluice_endpoint_writes_total', { cluster: 'eu', object: 'Endpoints', effect: 'nothing' }, 12_953)
  for (const lag of [0.2, 0.3, 700])
    metrics.observe('sluice_endpoint_lag_seconds', { cluster: 'eu', leg: 'pod-endpointslice' }, lag)
  const families = await scrape(metrics)
  expect(families.get('sluice_cluster_up')!.samples).toEqual([
    { name: 'sluice_cluster_up', labels: { cluster: 'eu "1"\n\\' }, value: 1 },
  ])
  expect(families.get('sluice_endpoint_writes_total')!.samples).toEqual([
    {
      name: 'sluice_endpoint_writes_total',
      labels: { cluster: 'eu', object: 'Endpoints', effect: 'nothing' },
      value: 12_954,
    },
  ])
  const lag = families.get('sluice_endpoint_lag_seconds')!.samples
  const at = (le: string) => lag.find(({ labels }) => labels['le'] === le)!.value
  expect([at('0.1'), at('0.25'), at('0.5'), at('600'), at('+Inf')]).toEqual([0, 1, 2, 2, 3])
  expect(lag.find(({ name }) => name.endsWith('_count'))).toEqual({
    name: 'sluice_endpoint_lag_seconds_count',
    labels: { cluster: 'eu', leg: 'pod-endpointslice' },
    value: 3,
  })
})

test('a finding that is over is no series any more', async () => {
  const metrics = createMetrics('observe')
  const finding = (namespace: string) => ({ labels: { cluster: 'eu', namespace, code: 'stale-address' as const }, value: 1 })
  metrics.replace('sluice_findings', [finding('shop'), finding('bank')])
  metrics.replace('sluice_findings', [finding('bank')])
  const { samples } = (await scrape(metrics)).get('sluice_findings')!
  expect(samples.map(({ labels }) => labels['namespace'])).toEqual(['bank'])
})

test('two processes in one, as in tests, share no numbers', async () => {
  createMetrics('observe').set('sluice_load_balancer_up', { load_balancer: 'edge' }, 1)
  expect((await scrape(createMetrics('observe'))).get('sluice_load_balancer_up')!.samples).toEqual([])
})

test('each metric has a name in the form of Prometheus, with its unit', () => {
  for (const [name, { type, help, buckets }] of definitions) {
    expect(name).toMatch(/^sluice_[a-z_]+$/)
    expect(name.endsWith('_total')).toBe(type === 'counter')
    expect(type !== 'histogram' || name.endsWith('_seconds')).toBe(true)
    expect(help).toMatch(/\.$/)
    expect(buckets === undefined).toBe(type !== 'histogram')
    expect(buckets ?? []).toEqual([...(buckets ?? [])].toSorted((a, b) => a - b))
  }
})

test('of the labels that are not closed, none is the name of an object', () => {
  const open = new Set(definitions.flatMap(([, { labels }]) => labels).filter((label) => CLOSED_LABELS[label] === undefined))
  expect([...open].toSorted()).toEqual(['cluster', 'load_balancer', 'namespace'])
})

test('what the list lacks does not compile; a label that it lacks is refused, too', () => {
  const { add, set } = createMetrics('observe')
  // @ts-expect-error the label does not exist
  expect(() => set('sluice_cluster_up', { cluster: 'eu', pod: 'web-0' }, 1)).toThrow('pod')
  // @ts-expect-error the control plane has no such part
  const age: Parameters<typeof set<'sluice_control_plane_lease_age_seconds'>>[1] = { cluster: 'eu', part: 'kubelet' }
  expect(age.part).toBe('kubelet')
  // @ts-expect-error a gauge is no counter
  expect(() => add('sluice_findings', { cluster: 'eu', namespace: 'shop', code: 'pod-flaps' })).toThrow(TypeError)
})
