import { expect, test } from 'vitest'
import type { Journal } from '../../pods/glossary.ts'
import { createOperations } from './operations.ts'

const EDGE = { loadBalancer: 'edge', target: 'web-0' }
const INNER = { loadBalancer: 'inner', target: 'web-0' }
const record: Journal = { run: 'run-1', epoch: 1, attempt: 1, step: 'drain', baseline: [], targets: [] }

function bed() {
  const operations = createOperations()
  const drainId = (target = EDGE): string => operations.idOf(record, 'uid-0', 'drain', target)
  return { ...operations, drainId, done: () => operations.noteDone(EDGE, drainId(), 'drain') }
}

test('all tries of an effect have one id', () => {
  const { drainId, done, noteRead } = bed()
  const first = drainId()
  done()
  noteRead(EDGE, 'out')
  done()
  expect(drainId()).toBe(first)
})

test('one that is said to be done once may be a wrong answer, which its id still guards against', () => {
  const { drainId, done, noteRead } = bed()
  const first = drainId()
  done()
  noteRead(EDGE, 'in')
  expect(drainId()).toBe(first)
})

test('said twice, and it reads otherwise: another, and yet another', () => {
  const { drainId, done, noteRead } = bed()
  const ids = [drainId()]
  for (let repairs = 0; repairs < 2; repairs++) {
    done()
    done()
    noteRead(EDGE, 'in')
    ids.push(drainId())
  }
  expect(new Set(ids).size).toBe(3)
})

test('of that target and that effect alone', () => {
  const { drainId, done, noteRead, idOf } = bed()
  const before = [drainId(INNER), idOf(record, 'uid-0', 'restore', EDGE)]
  done()
  done()
  noteRead(INNER, 'in')
  noteRead(EDGE, 'in')
  expect([drainId(INNER), idOf(record, 'uid-0', 'restore', EDGE)]).toEqual(before)
})
