import { describe, expect, test } from 'vitest'
import { writeJournal } from '../../journal/journal.ts'
import type { Journal } from '../../pods/glossary.ts'
import { JOURNAL_KEY } from '../../pods/view.ts'
import { condition, decided, endpoint, node, pod, service, slice } from '../decide/testing/world.ts'

/* The first shipped rule over the states that the kubelet shows in the course of an upgrade (measured on Kubernetes 1.35). */

const RULE = '  - use: upgrading-not-ready'
const [OLD, NEW] = ['registry.example/app:v1', 'registry.example/app:v2']
const JOURNAL: Journal = {
  run: 'k3m9x7p2qa',
  epoch: 1,
  attempt: 1,
  step: 'patched',
  generation: 2,
  baseline: [{ name: 'app', image: OLD, containerId: 'containerd://A', imageId: 'sha256:1' }],
  targets: [],
}

interface Shown {
  image?: string
  observed?: number
  container?: { id?: string; statusImage?: string; imageId?: string; ready?: boolean; running?: boolean; before?: string }
  ready?: boolean
  uid?: string
}

function upgraded(
  journal: Partial<Journal> | string | undefined,
  shown: Shown = {},
  place: 'annotation' | 'condition' = 'annotation',
): object {
  const { image = NEW, observed = 2, ready = true, uid = 'uid-of-web-1' } = shown
  const { id = 'A', statusImage = OLD, imageId = 'sha256:1', running = true, before } = shown.container ?? {}
  const text =
    typeof journal === 'object' ? writeJournal({ ...JOURNAL, ...journal }, place === 'annotation' ? uid : undefined) : journal
  const isThere = text !== undefined
  const metadata = { name: 'web-1', namespace: 'shop', uid: 'uid-of-web-1', labels: { app: 'web' }, generation: 2 }
  return pod(1, {
    metadata: { ...metadata, ...(isThere && place === 'annotation' ? { annotations: { [JOURNAL_KEY]: text } } : {}) },
    spec: { nodeName: 'node-1', containers: [{ name: 'app', image }] },
    status: {
      observedGeneration: observed,
      conditions: [
        condition('Ready', ready ? 'True' : 'False'),
        ...(isThere && place === 'condition' ? [condition(JOURNAL_KEY, 'False', { message: text })] : []),
      ],
      containerStatuses: [
        {
          name: 'app',
          ready: shown.container?.ready ?? ready,
          image: statusImage,
          imageID: imageId,
          containerID: `containerd://${id}`,
          state: running ? { running: { startedAt: '2026-11-30T09:00:00Z' } } : {},
          ...(before === undefined ? {} : { lastState: { terminated: { containerID: `containerd://${before}` } } }),
        },
      ],
    },
  })
}

/** Whether the rule makes the endpoint not ready, which its writer wishes ready. */
function isHeld(one: object): boolean {
  const answer = decided(RULE, slice([endpoint(1, { ready: true, serving: true })]), { objects: [one, service, node] })
  expect(answer.decision.endpoints.flatMap(({ failed }) => failed)).toEqual([])
  return answer.patch.length > 0
}

const REPLACED = { id: 'B', statusImage: NEW, imageId: 'sha256:2', before: 'A' }

describe('a pod under upgrade is not ready before its new container is', () => {
  test.each<[string, boolean, object]>([
    ['no record', false, upgraded(undefined, { image: OLD })],
    ['the drain is recorded', true, upgraded({ step: 'drain' }, { image: OLD })],
    ['patched, and the kubelet has not seen it: Ready is of the old container', true, upgraded({}, { observed: 1 })],
    ['the kubelet has seen it, and still shows the old container, Ready', true, upgraded({})],
    ['the new container runs, and is not ready', true, upgraded({}, { container: { ...REPLACED, ready: false }, ready: false })],
    ['the new container is ready', false, upgraded({}, { container: REPLACED })],
    ['a readiness gate is closed', true, upgraded({}, { container: { ...REPLACED, ready: true }, ready: false })],
    [
      'the same digest under another tag: the status keeps the old tag',
      false,
      upgraded({}, { container: { id: 'B', before: 'A' } }),
    ],
    ['the old image again, after a crash, before the kubelet takes the patch', true, upgraded({}, { container: { id: 'B' } })],
    ['the container waits for its image', true, upgraded({}, { container: { running: false }, ready: false })],
    ['the restore is recorded', false, upgraded({ step: 'restore' }, { container: REPLACED })],
    [
      'the restore is recorded, and the pod is not ready again',
      true,
      upgraded({ step: 'restore' }, { container: REPLACED, ready: false }),
    ],
    ['the upgrade is over', false, upgraded({ step: 'closed' }, { container: REPLACED })],
    ['an upgrade without a drain', false, upgraded({ undrained: ['app'] })],
    ['the record of another pod, in a copied manifest', false, upgraded({}, { uid: 'uid-of-another' })],
    ['the record in the condition', true, upgraded({}, {}, 'condition')],
    ['the record in the condition, and the new container is ready', false, upgraded({}, { container: REPLACED }, 'condition')],
  ])('%s', (_name, held, one) => {
    expect(isHeld(one)).toBe(held)
  })

  test('a record that cannot be read fails the rule, and the wish stands', () => {
    for (const text of ['{', '{"v":1}', ''])
      expect(decided(RULE, slice([endpoint(1)]), { objects: [upgraded(text), service, node] })).toMatchObject({
        patch: [],
        decision: { endpoints: [{ failed: [{ rule: 'upgrading-not-ready', code: 'failed' }] }] },
      })
  })

  test('an endpoint without a pod, and a pod that is not seen, are no upgrades', () => {
    const answer = decided(RULE, slice([{ addresses: ['10.9.9.9'] }, endpoint(9)]))
    expect(answer.decision.endpoints).toEqual([])
  })
})
