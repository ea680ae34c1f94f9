import { expect, test } from 'vitest'
import { createLogger, logEvent } from './log.ts'
import { at } from './testing/samples.ts'

test('what comes from a cluster has no effect on the terminal that shows the log', async () => {
  let text = ''
  const err = {
    isTerminal: true,
    columns: 80,
    rows: 24,
    backlog: 0,
    write: (more: string) => (text += more),
    flush: async () => {},
  }
  const logger = await createLogger(true, { env: {}, err })
  // An escape sequence may begin with one character, which JSON leaves as it is.
  logEvent(logger!, at(0, { type: 'warning', message: '\u009b2J and \u202e, \u001b[2J' }))
  expect(text).toContain('\\u009b2J and \\u202e, \\u001b[2J')
  expect(JSON.parse(text)).toMatchObject({ level: 40, message: '\u009b2J and \u202e, \u001b[2J' })
})
