import { expect, test } from 'vitest'
import { createBodies } from './bodies.ts'

const bytes = (length: number, fill = 97): Uint8Array => new Uint8Array(length).fill(fill)

function streamOf(...chunks: Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
}

test('bodies are whole within the limit, which they share until they are released', async () => {
  const read = createBodies(100_000)
  const first = await read(streamOf(bytes(30_000), bytes(30_000)))
  expect([first.isWhole, first.bytes.length]).toEqual([true, 60_000])
  const second = await read(streamOf(bytes(30_000), bytes(30_000)))
  expect([second.isWhole, second.bytes.length]).toEqual([false, 4096])
  // A body without room takes none.
  expect((await read(streamOf(bytes(40_000)))).isWhole).toBe(true)
  first.release()
  first.release()
  expect((await read(streamOf(bytes(60_000)))).isWhole).toBe(true)
  expect((await read(streamOf(bytes(1)))).isWhole).toBe(false)
})

test('a body that breaks off leaves its room to others', async () => {
  const read = createBodies(100)
  const broken = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes(80))
    },
    pull(controller) {
      controller.error(new Error('reset'))
    },
  })
  await expect(read(broken)).rejects.toThrow('reset')
  expect((await read(streamOf(bytes(100)))).isWhole).toBe(true)
})

test('no body is an empty one', async () => {
  expect((await createBodies(1)(new Blob([]).stream())).bytes.length).toBe(0)
})
