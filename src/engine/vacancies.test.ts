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
  expect(look(pod('a'), pod('b2'))).toEqual([])
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

test('nobody is missed for ever', async () => {
  const { clock, look, expired } = createBed()
  look(pod('a'))
  expect(look()).toEqual(['a'])
  await clock.advance(30_000)
  expect([expired(), look(), clock.pending()]).toEqual([1, [], 0])
})
