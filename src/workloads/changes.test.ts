import { expect, it } from 'vitest'
import { createChanges } from './changes.ts'
import { createTestClock } from './testing/test-clock.ts'

function wait(look: () => number | undefined, refresh: () => Promise<void> = async () => {}) {
  const changes = createChanges()
  const clock = createTestClock()
  const interrupt = new AbortController()
  const onDeadline = (): Error => new Error('too late')
  const found = changes.until(look, { clock, signal: interrupt.signal, deadlineAt: 1_000, refresh, onDeadline })
  found.catch(() => {})
  return { changes, clock, interrupt, found }
}

it('looks at once, and again at each change', async () => {
  expect(await wait(() => 1).found).toBe(1)
  let value: number | undefined
  const { changes, found } = wait(() => value)
  changes.notify()
  value = 2
  changes.notify()
  value = 3
  expect(await found).toBe(2)
})

it('rejects with what the look throws, at the deadline, on abort, and once nothing will change any more', async () => {
  const thrown = wait(() => {
    throw new Error('gone')
  })
  await expect(thrown.found).rejects.toThrow('gone')

  const late = wait(() => undefined)
  await late.clock.advance(1_000)
  await expect(late.found).rejects.toThrow('too late')

  const aborted = wait(() => undefined)
  aborted.interrupt.abort(new Error('interrupted'))
  await expect(aborted.found).rejects.toThrow('interrupted')

  const failed = wait(() => undefined)
  failed.changes.fail(new Error('forbidden'))
  await expect(failed.found).rejects.toThrow('forbidden')
})

it('takes what is there already, although nothing will change any more', async () => {
  const changes = createChanges()
  changes.fail(new Error('forbidden'))
  const signal = new AbortController().signal
  const options = { clock: createTestClock(), signal, deadlineAt: 0, refresh: async () => {}, onDeadline: () => new Error() }
  expect(await changes.until(() => 1, options)).toBe(1)
})

it('looks anew at the deadline: what no watch has told by then is no reason to give up', async () => {
  let value: number | undefined
  const told = wait(
    () => value,
    async () => void (value = 3),
  )
  expect(told.changes.isAwaited()).toBe(true)
  await told.clock.advance(1_000)
  expect(await told.found).toBe(3)
  expect(told.changes.isAwaited()).toBe(false)
})

it('a look that is not answered ends with the deadline, 10 s later', async () => {
  const silent = wait(
    () => undefined,
    () => new Promise(() => {}),
  )
  let isOver = false
  silent.found.catch(() => (isOver = true))
  await silent.clock.advance(10_900)
  expect(isOver).toBe(false)
  await silent.clock.advance(200)
  await expect(silent.found).rejects.toThrow('too late')
})
