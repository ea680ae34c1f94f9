import { expect, test } from 'vitest'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import { managerMetricsOf, pollManager } from './poll-manager.ts'
import type { Unstamped } from './watch-cluster.ts'

/** An excerpt of the metrics of kube-controller-manager 1.35. */
const TEXT = `# TYPE rest_client_requests_total counter
rest_client_requests_total{code="200",host="10.0.0.1:6443",method="GET"} 900
rest_client_requests_total{code="200",host="10.0.0.1:6443",method="PUT"} 120
rest_client_requests_total{code="409",host="10.0.0.1:6443",method="PUT"} 3
# TYPE workqueue_depth gauge
workqueue_depth{name="endpoint"} 41
workqueue_depth{name="endpoint_slice"} 7
workqueue_depth{name="endpoint_slice_mirroring"} 99
workqueue_queue_duration_seconds_bucket{name="endpoint",le="1e-08"} 5
`

test('the queues of the two endpoint controllers, and all PUTs; of one that does not lead none', () => {
  expect(managerMetricsOf(TEXT)).toEqual({ queued: { Endpoints: 41, EndpointSlice: 7 }, puts: 123 })
  expect(managerMetricsOf('# TYPE up gauge\nup 1\n')).toEqual({ queued: {}, puts: 0 })
})

test('each 5 s; that it cannot be read is told once, and again after it could', async () => {
  const clock = createVirtualClock()
  const stopping = new AbortController()
  const events: Unstamped['type'][] = []
  let isAway = false
  const ended = pollManager(() => (isAway ? Promise.reject(new Error('no answer')) : Promise.resolve(TEXT)), {
    clock,
    signal: stopping.signal,
    emit: ({ type }) => events.push(type),
  })
  await clock.advance(5_500)
  for (const away of [true, false, true]) {
    isAway = away
    await clock.advance(10_000)
  }
  expect(events.map((type) => (type === 'manager-metrics' ? 'read' : 'unread'))).toEqual([
    'read',
    'read',
    'unread',
    'read',
    'read',
    'unread',
  ])
  stopping.abort()
  await clock.settle()
  await ended
})
