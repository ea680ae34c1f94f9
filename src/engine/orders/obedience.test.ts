import { expect, test } from 'vitest'
import type { Given, Obedience } from './obedience.ts'
import { createObedience } from './obedience.ts'

interface Bed {
  obedience: Obedience
  /** Sets the order on the Lease. */
  order(given: Given | undefined): void
  /** Sets whether orders are on their way to the Lease. */
  write(isWriting: boolean): void
  told: string[]
}

function createBed(exitWhenPaused = false): Bed {
  const told: string[] = []
  let present: Given | undefined
  let isWriting = false
  const obedience = createObedience({
    ordered: () => present,
    isWriting: () => isWriting,
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
    write(now) {
      isWriting = now
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

test('while an order is on its way a rest ends nothing; after that it is asked for anew, and ends the run once', () => {
  const { order, write, obedience, told } = createBed(true)
  write(true)
  order(pause)
  obedience.rest()
  obedience.rest()
  order(pause)
  expect(told.splice(0)).toEqual(['ordered pause ann', 'pause: run-paused', 'paused'])
  write(false)
  expect(told.splice(0)).toEqual(['pause: run-paused'])
  obedience.rest()
  obedience.rest()
  write(false)
  expect(told).toEqual(['ended by ann', 'hold: pause-ends-run'])
})

test('a rest that has ended nothing is forgotten with its pause', () => {
  const { order, write, obedience, told } = createBed(true)
  write(true)
  order(pause)
  obedience.rest()
  order(undefined)
  write(false)
  obedience.rest()
  expect(told.slice(3)).toEqual(['ordered resume', 'resume'])
})
