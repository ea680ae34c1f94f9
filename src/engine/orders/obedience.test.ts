import { expect, test } from 'vitest'
import type { Given, Obedience } from './obedience.ts'
import { createObedience } from './obedience.ts'

interface Bed {
  obedience: Obedience
  /** What stands on the Lease from now on. */
  order(given: Given | undefined): void
  told: string[]
}

function createBed(exitWhenPaused = false): Bed {
  const told: string[] = []
  let present: Given | undefined
  const obedience = createObedience({
    ordered: () => present,
    rollout: {
      pause: (reason) => told.push(`pause: ${reason.code}`),
      resume: () => told.push('resume'),
      abort: (reason) => told.push(`abort: ${reason.code}`),
      hold: (reason) => told.push(`hold: ${reason.code}`),
    },
    exitWhenPaused,
    onPaused: (by) => told.push(`ended by ${by}`),
    tell: (event) => told.push(event.type === 'ordered' ? `ordered ${event.order} ${event.by}`.trim() : event.type),
  })
  return {
    obedience,
    told,
    order(given) {
      present = given
      obedience.look()
    },
  }
}

const pause: Given = { order: 'pause', by: 'ann' }
const abort: Given = { order: 'abort', by: 'bob' }

test('nothing is ordered: nothing is done', () => {
  const { order, obedience, told } = createBed()
  order(undefined)
  obedience.rest()
  expect(told).toEqual([])
})

test('a pause, its rest, and its end; each once, however often it is looked at', () => {
  const { order, obedience, told } = createBed()
  order(pause)
  order({ ...pause, by: 'eve' })
  obedience.rest()
  obedience.rest()
  order(undefined)
  order(undefined)
  expect(told).toEqual(['ordered pause ann', 'pause: run-paused', 'paused', 'ordered resume', 'resume'])
})

test('an abort, also of what is paused, is never taken back', () => {
  const { order, obedience, told } = createBed()
  order(pause)
  order(abort)
  order(undefined)
  order(pause)
  obedience.rest()
  expect(told.slice(2)).toEqual(['ordered abort bob', 'abort: abort-ordered'])
  expect(obedience.given).toEqual(abort)
})

test('a second pause comes to rest anew', () => {
  const { order, obedience, told } = createBed()
  for (const given of [pause, undefined, pause]) {
    order(given)
    obedience.rest()
  }
  expect(told.filter((one) => one === 'paused')).toHaveLength(2)
})

test('a run that is to end when paused ends at rest, and not before', () => {
  const { order, obedience, told } = createBed(true)
  order(pause)
  expect(told.at(-1)).toBe('pause: run-paused')
  obedience.rest()
  expect(told.slice(2)).toEqual(['paused', 'ended by ann', 'hold: pause-ends-run'])
})
