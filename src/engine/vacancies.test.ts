import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createVirtualClock } from '../kube/testing/virtual-clock.ts'
import type { PodView } from '../pods/glossary.ts'
import { createVacancies } from './vacancies.ts'

const owner = { kind: 'StatefulSet', name: 'web', uid: 'web', apiVersion: 'apps/v1' }
const pod = (uid: string, change: Partial<PodView> = {}): PodView => ({ uid, name: uid, owner, ...change }) as PodView

function createBed(expectsHeir = (): boolean => true) {
  const clock = createVirtualClock()
  let expired = 0
  const vacancies = createVacancies({ clock, expectsHeir, onExpired: () => (expired += 1) })
  return { clock, expired: () => expired, look: (...pods: PodView[]) => vacancies.look(pods).map(({ uid }) => uid) }
}

test('one that is gone is missed until another of its owner has come', () => {
  const { look } = createBed()
  expect(look(pod('a'), pod('b'))).toEqual([])
  expect(look(pod('a'))).toEqual(['b'])
  expect(look(pod('a'), pod('other', { owner: { ...owner, uid: 'x' } }))).toEqual(['b'])
  expect(look(pod('a'), pod('b2'), pod('other', { owner: { ...owner, uid: 'x' } }))).toEqual([])
})

test('one that came before the other had gone takes its place', () => {
  const { look } = createBed()
  look(pod('a'))
  expect(look(pod('a', { deleting: true, finished: true }), pod('a2'))).toEqual([])
  expect(look(pod('a2'))).toEqual([])
  expect(look()).toEqual(['a2'])
})

test('nobody is missed whom nobody will replace', () => {
  const { look } = createBed(() => false)
  look(pod('a'))
  expect(look()).toEqual([])
  const { look: lookAgain } = createBed()
  lookAgain({ ...pod('bare'), owner: undefined } as never, pod('evicted', { finished: true }))
  expect(lookAgain()).toEqual([])
})

test('one that came for an evicted pod, or because its owner was scaled up, takes the place of no other', () => {
  const { look } = createBed()
  look(pod('a'), pod('b'))
  expect(look(pod('a', { finished: true }), pod('b'))).toEqual(['a'])
  expect(look(pod('a', { finished: true }), pod('b'), pod('a2'))).toEqual([])
  expect(look(pod('b'), pod('a2'), pod('scaled-up'))).toEqual([])
  expect(look(pod('a2'), pod('scaled-up'))).toEqual(['b'])
})

test('nobody is missed for ever', async () => {
  const { clock, look, expired } = createBed()
  look(pod('a'))
  expect(look()).toEqual(['a'])
  await clock.advance(30_000)
  expect([expired(), look(), clock.pending()]).toEqual([1, [], 0])
})

const happenings = fc.array(
  fc.record({
    what: fc.constantFrom('delete' as const, 'evict' as const, 'go' as const, 'come' as const),
    which: fc.nat({ max: 9 }),
  }),
  { maxLength: 40 },
)

test('of a workload of three, those that serve, are going or are missed are never fewer, and none is missed for nothing', () => {
  fc.assert(
    fc.property(happenings, (all) => {
      const { look } = createBed()
      let pods = ['0', '1', '2'].map((uid) => pod(uid))
      let made = pods.length
      const serving = (): PodView[] => pods.filter(({ deleting, finished }) => !deleting && !finished)
      const ended = (): PodView[] => pods.filter(({ deleting, finished }) => deleting || finished)
      const change = (one: PodView, to: Partial<PodView>): PodView[] =>
        pods.map((each) => (each === one ? { ...each, ...to } : each))
      const come = (): void => void (pods = [...pods, pod(String(made++))])
      function judge(): void {
        const missed = look(...pods)
        const going = pods.filter(({ deleting }) => deleting)
        expect(serving().length + going.length + missed.length).toBeGreaterThanOrEqual(3)
        expect(serving().length + missed.length).toBeLessThanOrEqual(3)
      }
      judge()
      for (const { what, which } of all) {
        const one = serving()[which % Math.max(1, serving().length)]
        if (what === 'delete' && one) pods = change(one, { deleting: true })
        if (what === 'evict' && one) pods = change(one, { finished: true })
        if (what === 'go') pods = pods.filter((each) => each !== ended()[which % Math.max(1, ended().length)])
        if (what === 'come' && serving().length < 3) come()
        judge()
      }
      while (serving().length < 3) come()
      pods = serving()
      expect(look(...pods)).toEqual([])
    }),
    { numRuns: 500 },
  )
})
