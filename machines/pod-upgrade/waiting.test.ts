import { expect, test } from 'vitest'
import { testPod } from '../../src/pods/testing/raw-pod.ts'
import type { JournalTarget } from '../../src/pods/glossary.ts'
import type { PodContext } from './context.ts'
import { reasons } from './reasons.ts'
import { OUT, recorded, UNREAD } from './testing/recorded.ts'
import { TARGET } from './testing/world.ts'
import { waitingFor } from './waiting.ts'

const gone = { pod: testPod({ ip: '10.0.0.1' }), heir: null, traffic: OUT } as PodContext

// Found by trial: a ready pod was there at another address, or the entry could not be read, and neither could be seen.
test('who waits for what comes in the place of a pod says where, or why that is not known', () => {
  expect(waitingFor('settling', gone)).toBe('a pod in its place, at 10.0.0.1 or where its entry is pointed by then')
  expect(waitingFor('settling', { ...gone, address: '10.0.0.9' })).toBe(
    'a pod in its place, at 10.0.0.9 or where its entry is pointed by then',
  )
  expect(waitingFor('settling', { ...gone, traffic: UNREAD })).toBe('no answer')
})

test('an entry that could not be read back in time is left to a person with the reason', () => {
  expect(reasons.inDoubt({ ...gone, traffic: UNREAD })).toMatch(/: no answer$/)
  expect(reasons.inDoubt({ ...gone, traffic: UNREAD, trouble: 'refused' })).toMatch(/: refused$/)
  expect(reasons.inDoubt(gone)).toMatch(/is not known$/)
})

// Found by a breaker: it was named, and asked about, once more.
test('what a person has said to be in is not in doubt', () => {
  const inner = { ...TARGET, loadBalancer: 'inner' }
  const doubt = (...targets: JournalTarget[]): string => {
    const { journal: record } = recorded('restore', { targets })
    return reasons.inDoubt({ ...gone, record })
  }
  expect(doubt({ ...TARGET, said: 'in' }, inner)).toMatch(/^inner\/\S+ cannot be read back, /)
  expect(doubt(TARGET, inner), 'control').toMatch(/^edge\/\S+, inner\/\S+ cannot be read back, /)
})
