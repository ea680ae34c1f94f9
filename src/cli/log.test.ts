import { expect, test } from 'vitest'
import type { RunEventBody } from '../engine/events.ts'
import { createLogger, logEvent } from './log.ts'
import { createFakeTerminal } from './testing/fake-terminal.ts'
import { at, said } from './testing/samples.ts'
import { createWriting } from '../report/words/words.ts'

/** Returns the log line for an event. */
async function logged(event: RunEventBody): Promise<string> {
  const terminal = createFakeTerminal()
  const logger = await createLogger(true, terminal)
  logEvent(logger!, at(0, event), createWriting())
  return terminal.written.err
}

test('what comes from a cluster has no effect on the terminal that shows the log', async () => {
  // An escape sequence may begin with one character that JSON does not escape.
  const words = '\u009b2J and \u202e, \u001b[2J'
  const text = await logged({ type: 'warning', reason: said(words) })
  expect(text).toContain('\\u009b2J and \\u202e, \\u001b[2J')
  expect(JSON.parse(text)).toMatchObject({ level: 40, reason: { code: 'error', said: words, message: words } })
})

test.each<[RunEventBody, object]>([
  [
    { type: 'ordered', order: 'abort', by: 'ann@desk' },
    { msg: 'Order found', order: 'abort', by: 'ann@desk' },
  ],
  [
    { type: 'paused', by: 'ann@desk' },
    { msg: 'Run paused', by: 'ann@desk' },
  ],
])('the log tells of a run that was given an order: $type', async (event, line) => {
  expect(JSON.parse(await logged(event))).toMatchObject({ level: 30, ...line })
})
