import { mkdtempSync, rmSync } from 'node:fs'
import type { Socket } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { LONGEST_REPLY } from './connection.ts'
import { parseOldWorkers, readOldInFlight } from './old-workers.ts'
import { ENDLESS, sendWithoutEnd } from './testing/endless.ts'

/** The answer of HAProxy 2.6 to `show proc`. */
const ANSWER = `#<PID>          <type>          <reloads>       <uptime>        <version>
10              master          2 [failed: 0]   0d00h02m43s     2.6.12-1+deb12u4
# workers
30              worker          0               0d00h00m07s     2.6.12-1+deb12u4
# old workers
20              worker          1               0d00h02m43s     2.6.12-1+deb12u4
12              worker          2               0d00h02m50s     2.6.12-1+deb12u4
# programs
40              dataplaneapi    0               0d00h02m50s     -

`

const NO_OLD_WORKERS = ANSWER.replace(/# old workers\n.*\n.*\n/, '# old workers\n')

test('finds the old workers, and neither the new one nor programs', () => {
  expect(parseOldWorkers(ANSWER)).toEqual(['20', '12'])
  expect(parseOldWorkers(NO_OLD_WORKERS)).toEqual([])
  expect(parseOldWorkers('Unknown command')).toBe(undefined)
})

/** Calls a master with an old worker whose statistics are `said`. */
function ask(said: string): Promise<unknown> {
  return askMaster((client) => client.end(`${said}\n\n`))
}

/** Calls a master whose old worker behaves as `say` does. `lists` are the answers to `show proc`; the last one repeats. */
async function askMaster(say: (client: Socket) => void, ...lists: string[]): Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-master-'))
  const socket = join(folder, 'master.sock')
  const master = createServer({ allowHalfOpen: true }, (client) =>
    client.once('data', (line) => {
      if (line.toString().startsWith('show proc')) client.end((lists.length > 1 ? lists.shift() : lists[0]) ?? ANSWER)
      else say(client)
    }),
  ).listen(socket)
  onTestFinished(() => {
    master.close()
    rmSync(folder, { recursive: true })
  })
  await new Promise((resolve) => master.once('listening', resolve))
  return readOldInFlight({ component: 'haproxy edge', socket }, 'web', { deadlineMs: 20_000, assertLive: () => {} }, new Set())
}

test('an old worker that says nothing is not taken for empty', async () => {
  const message = expect.stringContaining('the old worker 20 does not say what it serves')
  await expect(ask("Can't connect to the target CLI!")).rejects.toMatchObject({ kind: 'retryable', message })
})

test('a master that sends without end is given up, and not kept', async () => {
  let sent = (): number => 0
  const asked = askMaster((client) => void (sent = sendWithoutEnd(client)))
  await expect(asked).rejects.toMatchObject({ kind: 'fatal', message: expect.stringContaining('sends more than HAProxy') })
  expect(sent()).toBeGreaterThan(LONGEST_REPLY)
  expect(sent()).toBeLessThan(ENDLESS)
})

test.each([
  ['amid its answer', (client: Socket) => void client.write('# pxname,svname')],
  ['before its answer', () => {}],
])('a worker that ends %s, while the master keeps the connection, serves nothing', async (_, say) => {
  await expect(askMaster(say, ANSWER, NO_OLD_WORKERS)).resolves.toBeTypeOf('function')
})

test('a worker that is silent and still there is not taken for empty', async () => {
  const asked = askMaster((client) => void client.write('# pxname,svname'))
  await expect(asked).rejects.toMatchObject({ kind: 'retryable', message: expect.stringContaining('half an answer') })
})

test('one that has ended meanwhile serves nothing', async () => {
  await expect(ask("Can't find the target PID matching the prefix '@!20'")).resolves.toBeTypeOf('function')
})
