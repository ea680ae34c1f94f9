import { expect, test } from 'vitest'
import { checkAccess } from './access.ts'
import { createKubeClient } from './kube-client.ts'
import { createScriptedTransport } from './testing/scripted-transport.ts'
import { createVirtualClock } from './testing/virtual-clock.ts'

function setUp() {
  const clock = createVirtualClock()
  const transport = createScriptedTransport(clock)
  return { transport, client: createKubeClient({ transport, clock, random: { next: () => 0.5 } }) }
}

const CHECKS = [
  { verb: 'patch', resource: 'pods', namespace: 'default' },
  { verb: 'patch', group: 'apps', resource: 'statefulsets', namespace: 'default', name: 'web' },
  { verb: 'update', group: 'coordination.k8s.io', resource: 'leases', namespace: 'default' },
]

test('asks for all at once, and gives what is denied in its order', async () => {
  const { client, transport } = setUp()
  const denied = checkAccess(client, CHECKS)
  const reviews = [await transport.next(), await transport.next(), await transport.next()]
  const answers = [
    { status: { allowed: false, reason: 'no role binding' } },
    { status: { allowed: true } },
    { status: { allowed: false } },
  ]
  const asked = reviews.map(({ request }) => JSON.parse(request.body ?? '') as { spec: { resourceAttributes: unknown } })
  expect(asked.map(({ spec }) => spec.resourceAttributes)).toEqual(CHECKS)
  for (const [index, review] of reviews.entries()) review.answer(201, answers[index])
  expect(await denied).toEqual([{ check: CHECKS[0], reason: 'no role binding' }, { check: CHECKS[2] }])
})

test('an answer that says nothing is not taken for a yes', async () => {
  const { client, transport } = setUp()
  const denied = checkAccess(client, CHECKS.slice(0, 1)).catch((error: unknown) => error)
  ;(await transport.next()).answer(201, { status: {} })
  expect(await denied).toMatchObject({ kind: 'ambiguous' })
})
