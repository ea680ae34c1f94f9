import { expect, test } from 'vitest'
import type { KubeClient } from '../../kube/client.ts'
import { KubeError } from '../../kube/errors.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import type { PodView } from '../../pods/glossary.ts'
import type { RawPodOptions } from '../../pods/testing/raw-pod.ts'
import { rawPod, testPod } from '../../pods/testing/raw-pod.ts'
import { createAsking } from './asking.ts'

const POD = { name: 'web-0', uid: 'uid-0', resourceVersion: '100' }

interface BedOptions {
  known?: PodView
  /** The watch of the pod has just brought a line. */
  isHeard?: boolean
}

/** The API server answers with this pod or status, or not at all (0). `known`: the pod as it is observed. */
function bed(answer: RawPodOptions | number, { known = testPod(POD), isHeard = false }: BedOptions = {}) {
  const clock = createVirtualClock()
  const calls: string[] = []
  const client = {
    get: async (path: string) => {
      calls.push(path)
      if (typeof answer !== 'number') return rawPod(answer)
      const fields = answer === 0 ? { kind: 'ambiguous' as const } : { kind: 'definite' as const, status: answer }
      throw new KubeError('no', { ...fields, method: 'GET', path, ...(answer === 404 ? { reason: 'NotFound' } : {}) })
    },
  } as unknown as KubeClient
  const observed: string[] = []
  const candidates = {
    all: () => (known ? [{ pod: known, stored: { kind: 'none' } as const }] : []),
    isCurrent: () => true,
    announce: (uid: string) => void observed.push(uid),
    isHeard: () => isHeard,
  }
  return { clock, calls, observed, asking: createAsking({ client, clock, namespace: 'shop', candidates }) }
}

test.each([
  { is: 'as it is observed', answer: POD, says: 'known', told: ['uid-0'] },
  // The watch is ahead of the answer.
  { is: 'older', answer: { ...POD, resourceVersion: '99' }, says: 'known', told: ['uid-0'] },
  { is: 'another version', answer: { ...POD, resourceVersion: '101' }, says: 'news', told: ['uid-0'] },
  { is: 'another pod', answer: { ...POD, uid: 'uid-9' }, says: 'gone', told: [] },
  { is: 'gone', answer: 404, says: 'gone', told: [] },
  { is: 'not answered for', answer: 0, says: 'silent', told: [] },
  { is: 'put off', answer: 429, says: 'putOff', told: [] },
  { is: 'not to be read', answer: 403, says: 'unknown', told: [] },
  { is: 'in trouble', answer: 503, says: 'unknown', told: [] },
])('it is $is', async ({ answer, says, told }) => {
  const { asking, calls, observed } = bed(answer)
  expect(await asking.pod(POD, 1_000)).toBe(says)
  expect([calls, observed]).toEqual([['/api/v1/namespaces/shop/pods/web-0'], told])
})

test('another version is told, and no news of a silence, where the watch brings lines', async () => {
  const { asking, observed } = bed({ ...POD, resourceVersion: '101' }, { isHeard: true })
  expect([await asking.pod(POD, 1_000), observed]).toEqual(['known', ['uid-0']])
})

test('one that nobody has observed is news', async () => {
  const { clock, asking } = bed(POD)
  expect(await asking.pod({ ...POD, uid: 'uid-0' }, 1_000)).toBe('known')
  await clock.advance(2_000)
  const unobserved = bed({ ...POD, uid: 'uid-1' })
  expect(await unobserved.asking.pod({ ...POD, uid: 'uid-1' }, 1_000)).toBe('news')
})

test('an answer holds for a second from when it was asked for, whoever has it', async () => {
  const { asking, calls, clock } = bed(POD)
  const askedAt = clock.now()
  await clock.advance(600)
  asking.answered('uid-0', askedAt)
  await clock.advance(400)
  expect([await asking.pod(POD, 1_000), calls.length]).toEqual(['known', 0])
  await clock.advance(1)
  expect([await asking.pod(POD, 1_000), calls.length]).toEqual(['known', 1])
  await clock.advance(1_000)
  expect([await asking.pod(POD, 1_000), calls.length]).toEqual(['known', 1])
})
