import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Call } from '../contract.ts'
import {
  connectionError,
  LONGEST_REPLY,
  LONGEST_WRITE,
  type RuntimeSession,
  splitIntoWrites,
  withRuntimeSession,
} from './connection.ts'
import { ENDLESS, sendWithoutEnd } from './testing/endless.ts'

const call: Call = { deadlineMs: 20_000, assertLive: () => {} }
const open = new Set<Socket>()
const cleanups: (() => void)[] = []
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-connection-'))
})

afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup()
  rmSync(folder, { recursive: true })
  expect(open.size, 'connections left open').toBe(0)
})

/** Starts a server in place of HAProxy. `answer` gets each line. */
async function listen(answer: (client: Socket, line: string) => void, where: string | number): Promise<string> {
  const clients = new Set<Socket>()
  const server: Server = createServer((client) => {
    clients.add(client)
    client.on('data', (data) => answer(client, data.toString()))
  })
  cleanups.push(() => {
    server.close()
    for (const client of clients) client.destroy()
  })
  if (typeof where === 'string') server.listen(where)
  else server.listen(where, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return typeof where === 'string' ? where : `127.0.0.1:${(server.address() as AddressInfo).port}`
}

function talk<T>(socket: string, use: (session: RuntimeSession) => Promise<T>, over: Partial<Call> = {}): Promise<T> {
  return withRuntimeSession({ component: 'haproxy edge', socket }, { ...call, ...over }, open, use)
}

test('over TCP: the first line turns on the prompt, each line has one command and its reply, whatever the chunks', async () => {
  const lines: string[] = []
  const socket = await listen((client, text) => {
    lines.push(text)
    const replies = text
      .trim()
      .split('\n')
      .map((command) => (command === 'prompt' ? '\n> ' : `é ${command}\n\n> `))
    const bytes = Buffer.from(replies.join(''))
    const sendFrom = (at: number) => {
      if (at >= bytes.length || client.destroyed) return
      client.write(bytes.subarray(at, at + 1), () => setImmediate(sendFrom, at + 1))
    }
    client.setNoDelay(true)
    sendFrom(0)
  }, 0)
  const replies = await talk(socket, async (session) => [await session.read(['a', 'b']), await session.write(['c'])])
  expect(replies).toEqual([['é a', 'é b'], ['é c']])
  expect(lines).toEqual(['prompt\na\nb\n', 'c\n'])
})

test('the next write follows the replies to all lines of the one before, and none is longer than half of a small buffer', async () => {
  let unanswered = 0
  const writes: number[] = []
  const socket = await listen(
    (client, text) => {
      expect(unanswered).toBe(0)
      writes.push(Buffer.byteLength(text))
      const commands = text.trim().split('\n')
      unanswered = commands.length
      const answer = () => {
        unanswered -= 1
        client.write(`${commands[commands.length - unanswered - 1]}\n\n> `)
        if (unanswered > 0) setImmediate(answer)
      }
      answer()
    },
    join(folder, 'a.sock'),
  )
  const commands = Array.from({ length: 300 }, (_, index) => `show stat 3 4 ${index}`)
  expect(await talk(socket, (session) => session.read(commands))).toEqual(commands)
  expect(writes).toHaveLength(Math.ceil(`${commands.join('\n')}\n`.length / LONGEST_WRITE))
  expect(Math.max(...writes)).toBeLessThanOrEqual(LONGEST_WRITE + 'prompt\n'.length)
})

test('writes hold every item in order, undivided, and none that has two is too long', () => {
  const item = fc.array(
    fc.nat({ max: 900 }).map((length) => 'é'.repeat(length)),
    { minLength: 1, maxLength: 2 },
  )
  fc.assert(
    fc.property(fc.array(item, { maxLength: 100 }), (items) => {
      const writes = splitIntoWrites(items, (commands) => commands)
      expect(writes.flat()).toEqual(items)
      const bytes = (write: string[][]) => Buffer.byteLength(`${write.flat().join('\n')}\n`)
      for (const write of writes) expect(write.length === 1 || bytes(write) <= LONGEST_WRITE).toBe(true)
      for (const [index, write] of writes.slice(1).entries()) {
        expect(bytes([...writes[index]!, write[0]!]), 'a write is filled').toBeGreaterThan(LONGEST_WRITE)
      }
    }),
  )
})

// A reply without an end must not fill the memory.
test('what sends without end is given up, and not kept', async () => {
  let sent = (): number => 0
  const socket = await listen((client) => void (sent = sendWithoutEnd(client)), join(folder, 'a.sock'))
  const asked = talk(socket, (session) => session.read(['show info']))
  await expect(asked).rejects.toMatchObject({ kind: 'fatal', message: expect.stringContaining('sends more than HAProxy') })
  expect(sent()).toBeGreaterThan(LONGEST_REPLY)
  expect(sent()).toBeLessThan(ENDLESS)
})

test('a connection that HAProxy has closed is found out before anything is written', async () => {
  const socket = await listen((client) => client.end('\n> \n> '), join(folder, 'a.sock'))
  const asked: string[] = []
  const cut = talk(
    socket,
    async (session) => {
      await session.read(['a'])
      while ([...open].some((connection) => !connection.destroyed)) await new Promise((resolve) => setImmediate(resolve))
      return session.write(['b'])
    },
    { assertLive: () => asked.push('assertLive') },
  )
  await expect(cut).rejects.toMatchObject({ kind: 'retryable' })
  expect(asked).toEqual(['assertLive'])
})

test('half an answer is none: a read is retryable, a write ambiguous', async () => {
  const socket = await listen((client) => client.end('\n> half an ans'), join(folder, 'a.sock'))
  await expect(talk(socket, (session) => session.read(['a']))).rejects.toMatchObject({ kind: 'retryable' })
  await expect(talk(socket, (session) => session.write(['a']))).rejects.toMatchObject({ kind: 'ambiguous' })
})

test('the deadline cuts a call that gets no answer', async () => {
  const socket = await listen(() => {}, join(folder, 'a.sock'))
  const silent = talk(socket, (session) => session.read(['a']), { deadlineMs: 20 })
  await expect(silent).rejects.toMatchObject({ kind: 'retryable', message: expect.stringContaining('no answer within 20 ms') })
  const silentWrite = talk(socket, (session) => session.write(['a']), { deadlineMs: 20 })
  await expect(silentWrite).rejects.toMatchObject({ kind: 'ambiguous' })
})

test('the socket of the master process is refused by name', async () => {
  const socket = await listen((client) => client.write('\nmaster> '), join(folder, 'master.sock'))
  const wrong = talk(socket, (session) => session.read(['a']))
  await expect(wrong).rejects.toMatchObject({
    kind: 'fatal',
    message: expect.stringContaining('is the socket of the master process'),
  })
})

test('no socket, or nobody behind it: the path is named', async () => {
  const missing = talk(join(folder, 'none.sock'), (session) => session.write(['a']))
  await expect(missing).rejects.toMatchObject({
    kind: 'retryable',
    message: `haproxy edge: there is no socket ${folder}/none.sock: is HAProxy running?`,
  })
  const port = await listen(() => {}, 0)
  for (const cleanup of cleanups.splice(0)) cleanup()
  const refused = talk(port, (session) => session.write(['a']))
  await expect(refused).rejects.toMatchObject({
    kind: 'retryable',
    message: `haproxy edge: nothing listens on the socket ${port}: is HAProxy running?`,
  })
})

test('no permission is fatal: trying again cannot help', () => {
  const cause = Object.assign(new Error('connect EACCES /run/a.sock'), { code: 'EACCES' })
  const error = connectionError({ component: 'haproxy edge', socket: '/run/a.sock' }, cause)
  expect(error).toMatchObject({ kind: 'fatal', cause, message: expect.stringContaining('/run/a.sock') })
})
