import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { unlessAborted } from './unless-aborted.ts'

const FOREVER = new Promise<never>(() => {})

test('comes to what it waits for, and leaves no listener behind', async () => {
  const { signal } = new AbortController()
  await expect(unlessAborted(Promise.resolve(7), signal)).resolves.toBe(7)
  await expect(unlessAborted(Promise.reject(new Error('no list')), signal)).rejects.toThrow('no list')
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test.each(['before', 'meanwhile'])('aborted %s: rejects with the reason', async (when) => {
  const controller = new AbortController()
  if (when === 'before') controller.abort(new Error('Ctrl-C'))
  const waiting = unlessAborted(FOREVER, controller.signal)
  controller.abort(new Error('Ctrl-C'))
  await expect(waiting).rejects.toThrow('Ctrl-C')
  expect(getEventListeners(controller.signal, 'abort')).toEqual([])
})

test('aborted, and what was waited for fails later: nobody is left to hear of it', async () => {
  const late = Promise.withResolvers<void>()
  await expect(unlessAborted(late.promise, AbortSignal.abort(new Error('Ctrl-C')))).rejects.toThrow('Ctrl-C')
  late.reject(new Error('too late'))
  await new Promise((resolve) => setImmediate(resolve))
})
