import { expect, test } from 'vitest'
import { imagePulls } from './image-pulls.ts'

/** An Event as kubelets of 1.32 to 1.35 write it. */
const EVENT = {
  reason: 'Pulled',
  message: 'Container image "localhost/app:v2" already present on machine',
  involvedObject: { kind: 'Pod', uid: 'uid-0', fieldPath: 'spec.containers{app}' },
  lastTimestamp: '2026-01-01T00:00:20Z',
  count: 2,
}
const PULL = { container: 'app', image: 'localhost/app:v2', at: '2026-01-01T00:00:20Z' }

test.each<[string, object, unknown[]]>([
  ['an image that was there', {}, [PULL]],
  [
    'one that may be used by this pod',
    { message: 'Container image "localhost/app:v2" already present on machine and can be accessed by the pod' },
    [PULL],
  ],
  [
    'one that was pulled',
    { message: 'Successfully pulled image "localhost/app:v2" in 1.9s (2.1s including waiting). Image size: 71 bytes.' },
    [PULL],
  ],
  [
    'a series of the newer API',
    {
      lastTimestamp: null,
      eventTime: '2026-01-01T00:00:10.500000Z',
      series: { lastObservedTime: '2026-01-01T00:00:20.250000Z' },
    },
    [PULL],
  ],
  ['of the newer API, once', { lastTimestamp: null, eventTime: '2026-01-01T00:00:20.999999Z' }, [PULL]],
  ['another reason', { reason: 'Pulling', message: 'Pulling image "localhost/app:v2"' }, []],
  [
    'several that were merged into one',
    { message: '(combined from similar events): Container image "localhost/app:v2" already' },
    [],
  ],
  ['another pod of the same name', { involvedObject: { ...EVENT.involvedObject, uid: 'uid-1' } }, []],
  ['an init container', { involvedObject: { ...EVENT.involvedObject, fieldPath: 'spec.initContainers{app}' } }, []],
  ['without a time', { lastTimestamp: null }, []],
])('%s', (_what, change, pulls) => {
  expect(imagePulls({ items: [{ ...EVENT, ...change }] }, 'uid-0')).toEqual(pulls)
})

test('what cannot be read says nothing', () => {
  expect(imagePulls({ items: [null, { reason: 7 }, EVENT] }, 'uid-0')).toEqual([PULL])
  expect(imagePulls({ kind: 'Status' }, 'uid-0')).toEqual([])
})
