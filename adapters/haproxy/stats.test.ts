import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseCsv, parseInFlight, parseInfo } from './stats.ts'

test('counts sessions and the queue of each server', () => {
  const csv = '# pxname,svname,qcur,qmax,scur,smax,\nweb,a,2,9,3,9,\nweb,b,0,0,0,0,\n'
  expect(parseInFlight(csv, 'web')).toEqual(new Map(Object.entries({ a: 5, b: 0 })))
})

test('a count that is missing is not known, never 0', () => {
  expect(parseInFlight('# pxname,svname,qcur,scur\nweb,a,,3\nweb,b,0', 'web')).toEqual(new Map())
  expect(parseInFlight('# pxname,svname,qcur\nweb,a,0', 'web')).toEqual(new Map())
  expect(parseInFlight('No such proxy.', 'web')).toEqual(new Map())
})

test('the text of a health check cannot pass for another server', () => {
  const csv = '# pxname,svname,qcur,scur,last_chk,\nweb,a,0,1,"evil ""text"",\nweb,b,0,0,",\nweb,b,0,7,,\n'
  expect(parseInFlight(csv, 'web')).toEqual(new Map(Object.entries({ a: 1, b: 7 })))
})

test('reads back any table of cells', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', ' ', 'é') })
  fc.assert(
    fc.property(fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }), { minLength: 1 }), (rows) => {
      const quoted = rows.map((row) => row.map((text) => `"${text.replaceAll('"', '""')}"`).join(','))
      expect(parseCsv(`${quoted.join('\n')}\n`)).toEqual(rows)
    }),
  )
})

test('the epoch holds the start time too: in a container the process id repeats', () => {
  const first = parseInfo('Name: HAProxy\nPid: 8\nStopping: 0\nStart_time_sec: 100\n')
  const second = parseInfo('Name: HAProxy\nPid: 8\nStopping: 1\nStart_time_sec: 160\n')
  expect(first?.epoch).not.toBe(second?.epoch)
  expect([first?.isStopping, second?.isStopping]).toEqual([false, true])
  expect(parseInfo('Unknown command')).toBeUndefined()
})
