import { askedWords } from './told.ts'
import { reasonWords } from '../../src/report/words/words.ts'
import { expect, test } from 'vitest'
import type { ResolveRequest } from '../../src/engine/resolving/resolve.ts'
import { resolvePod } from '../../src/engine/resolving/resolve.ts'
import { NAME, NAMESPACE, PORT } from './manifests.ts'
import { plainBalancer, plainScene } from './scene.ts'
import type { Stage } from './stage.ts'
import { isIn, openStage } from './stage.ts'
import { clockOf, ended, statusOf, upgradeTo, withoutRestore } from './story.ts'

/* Statements of an operator about a part of the open targets, and the questions that remain after them. */

const [FIRST, LAST] = [`${NAME}-0`, `${NAME}-1`]

async function say(stage: Stage, pod: string, word: Omit<ResolveRequest, 'namespace' | 'pod'>): Promise<string[]> {
  const ports = { client: stage.client, clock: clockOf(stage), random: { next: () => 0.5 }, identity: 'ann' }
  const told = { signal: new AbortController().signal, onWaiting() {}, onTrouble() {} }
  return (await stage.ask(resolvePod({ namespace: NAMESPACE, pod, ...word }, { ...ports, ...told }))).done.map((one) =>
    reasonWords(one),
  )
}

async function scale(stage: Stage, replicas: number): Promise<void> {
  const path = `/apis/apps/v1/namespaces/${NAMESPACE}/statefulsets/${NAME}`
  await stage.ask(stage.client.patch(path, [{ op: 'replace', path: '/spec/replicas', value: replicas }]))
}

function addressOf({ world: { server } }: Stage, pod: string): string {
  return (server.store.get('pods', NAMESPACE, pod) as unknown as { status: { podIP: string } }).status.podIP
}

// A statement about one balancer must not close the question about the other.
test('of a pod that is in, in one of two that cannot be read, the other is asked for: by status, and by the run', async () => {
  const balancers = ['edge', 'inner'].map((name) => plainBalancer({ level: 'G0', name }))
  const stage = await openStage(plainScene({ pods: 1, balancers }))
  const request = upgradeTo('v2')
  const run = await ended(stage, stage.start(request, withoutRestore(request)))
  expect(run.reason).toMatch(/: edge\/\S+, inner\/\S+ cannot be read back/)
  await stage.pass(30_000)
  await say(stage, FIRST, { traffic: 'in', loadBalancers: ['edge'] })
  const rest = expect.stringMatching(
    /^inner\/\S+ is left: (.|\n)*\n {2}sluice resolve pod\/web-0 -n \S+ --load-balancer inner --traffic in$/,
  ) as string
  const [before] = await statusOf(stage)
  expect([before!.name, before!.state, askedWords(before!)]).toEqual([FIRST, 'restore', rest])
  const again = await ended(stage, stage.start(request))
  expect(again).toMatchObject({ outcome: 'needsOperator', reason: expect.stringMatching(/^web-0: inner\/\S+ cannot be read/) })
  const [told] = await statusOf(stage)
  expect(askedWords(told!)).toContain('--load-balancer inner --traffic in')
  expect(askedWords(told!)).not.toContain('edge')
  stage.world.balancers.get('inner')!.operator.set(FIRST, { admin: 'ready' })
  stage.world.balancers.get('edge')!.operator.set(FIRST, { admin: 'ready' })
  expect(await say(stage, FIRST, { traffic: 'in', loadBalancers: ['inner'] })).toEqual([
    expect.stringContaining('its record is closed'),
  ])
  expect(await statusOf(stage), 'control: nothing is left').toMatchObject([{ state: 'closed' }])
  expect(await ended(stage, stage.start(request))).toMatchObject({ outcome: 'done' })
})

// Two records may have pods of one name. A statement about the one must not close the record of the other.
test('what is said of a pod that is gone leaves alone the one of its name that is half done, and has to say of which it is', async () => {
  const scene = plainScene({ pods: 2, fixedAddresses: false, balancers: [plainBalancer({ longestRequestMs: 6_000 })] })
  const stage = await openStage(scene)
  const edge = stage.world.balancers.get('edge')!.operator
  const first = stage.start(upgradeTo('v2'))
  await stage.until(() => isIn('emptying', LAST)(first))
  await scale(stage, 1)
  await stage.until(() => isIn('emptying', FIRST)(first))
  await scale(stage, 2)
  expect(await ended(stage, first)).toMatchObject({ outcome: 'needsOperator' })
  const asked = async () => {
    const gone = (await statusOf(stage)).find(({ attempt }) => attempt === null)
    return gone && askedWords(gone)
  }
  expect(await asked()).toContain(`sluice resolve pod/${LAST}`)
  // An operator adds an entry for the new pod beside the old one.
  await stage.pass(30_000)
  const address = addressOf(stage, LAST)
  edge.add({ name: 'new', address, port: PORT, weight: 1, admin: 'ready' })
  const second = stage.start(upgradeTo('v3'))
  await stage.until(() => isIn('emptying', LAST)(second))
  second.host.kill()
  await stage.pass(30_000)

  const word = { traffic: 'in', loadBalancers: [] } as const
  const stands = async () => (await statusOf(stage)).flatMap(({ name, state }) => (name === LAST ? [state] : []))
  expect(await stands()).toEqual(['drain', 'drain'])
  await expect(say(stage, LAST, word)).rejects.toMatchObject({ reason: { code: 'two-pods-of-name', pod: LAST } })
  expect(await stands()).toEqual(['drain', 'drain'])
  const said = await say(stage, LAST, { ...word, of: 'gone' })
  expect(said).toEqual([expect.stringMatching(/^edge\/web-1@\S+ of a pod\/web-1 that was before/)])
  expect(await stands()).toEqual(['drain'])
  expect(await ended(stage, stage.start(upgradeTo('v3')))).toMatchObject({ outcome: 'done' })
  expect(await stands()).toEqual(['closed'])
})
