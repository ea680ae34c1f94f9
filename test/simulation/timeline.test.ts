import { expect, test } from 'vitest'
import { timeline } from './timeline.ts'

test('what a process says of itself stands under its name, and a fault under fault', () => {
  const lines = timeline([
    { at: 1_222, type: 'said', process: 'sluice-0', words: 'web-1 queued → checking' },
    { at: 2_734, type: 'fault', fault: 'clock-jump', detail: '' },
    { at: 3_000, type: 'fault', fault: 'api-429', detail: 'GET /api/v1' },
  ])
  expect(lines.split('\n')).toEqual([
    '    1.222  sluice-0   web-1 queued → checking',
    '    2.734  fault      clock-jump',
    '    3.000  fault      api-429 GET /api/v1',
  ])
})

test('a container that was never started has no id', () => {
  const statusOf = (more: object): object => ({
    metadata: { name: 'web-0' },
    status: { containerStatuses: [{ name: 'app', image: 'app:v1', ready: false, ...more }] },
  })
  const written = { type: 'stored', by: 'kubelet', resource: 'pods', verb: 'update' } as const
  const waiting = statusOf({ state: { waiting: { reason: 'ContainerCreating' } } })
  const running = statusOf({ containerID: 'containerd://0000000012345678', state: { running: {} } })
  const lines = timeline([
    { at: 0, ...written, before: {}, after: waiting },
    { at: 1, ...written, before: waiting, after: running },
  ])
  expect(lines.split('\n')).toEqual([
    '    0.000  kubelet    update pods web-0  app app:v1 waiting:ContainerCreating ready=false',
    '    0.001  kubelet    update pods web-0  app 12345678 app:v1 running ready=false',
  ])
})
