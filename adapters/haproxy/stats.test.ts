import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseCounts, parseCsv, parseInFlight, parseInfo } from './stats.ts'

function inFlightOf(csv: string): Record<string, number> {
  return Object.fromEntries([...parseInFlight(csv, 'web')].map(([name, { inFlight }]) => [name, inFlight]))
}

test('counts sessions and the queue of each server', () => {
  const csv = '# pxname,svname,qcur,qmax,scur,smax,\nweb,a,2,9,3,9,\nweb,b,0,0,0,0,\n'
  expect(inFlightOf(csv)).toEqual({ a: 5, b: 0 })
})

test('the address is told where HAProxy tells it', () => {
  const csv = '# pxname,svname,qcur,scur,addr,\nweb,a,0,1,10.0.0.1:80,\nweb,b,0,2,,\n'
  expect(parseCounts(csv, 'web')).toEqual([
    { name: 'a', address: '10.0.0.1:80', inFlight: 1 },
    { name: 'b', address: '', inFlight: 2 },
  ])
  expect(parseCounts(csv.replace('addr', 'adr'), 'web').map(({ address }) => address)).toEqual(['', ''])
})

test.each([
  { cells: '12,3,4', known: { sessions: 12, lastSession: 3, lastChange: 4 } },
  { cells: '0,-1,4', known: { sessions: 0, lastChange: 4 } },
  { cells: ',,', known: {} },
])('sessions so far, seconds since the last of them and since the last change, of $cells: $known', ({ cells, known }) => {
  const csv = `# pxname,svname,qcur,scur,stot,lastsess,lastchg,\nweb,a,0,0,${cells},\n`
  expect(parseCounts(csv, 'web')).toEqual([{ name: 'a', address: '', inFlight: 0, ...known }])
  expect(parseCounts(csv.replace('stot,lastsess,lastchg', 'x,y,z'), 'web')).toEqual([{ name: 'a', address: '', inFlight: 0 }])
})

test('a count that is missing is not known, never 0', () => {
  expect(parseInFlight('# pxname,svname,qcur,scur\nweb,a,,3\nweb,b,0', 'web')).toEqual(new Map())
  expect(parseInFlight('# pxname,svname,qcur\nweb,a,0', 'web')).toEqual(new Map())
  expect(parseInFlight('No such proxy.', 'web')).toEqual(new Map())
})

test('the text of a health check cannot pass for another server', () => {
  const csv = '# pxname,svname,qcur,scur,last_chk,\nweb,a,0,1,"evil ""text"",\nweb,b,0,0,",\nweb,b,0,7,,\n'
  expect(inFlightOf(csv)).toEqual({ a: 1, b: 7 })
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

test('counts are the ones of the server itself, whatever its health check says', () => {
  const name = fc.stringMatching(/^[A-Za-z0-9_.:-]{1,8}$/)
  const lastCheck = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', 'web', '0', 'é') })
  const server = fc.record({ name, scur: fc.nat(), qcur: fc.nat(), lastCheck })
  const servers = fc.uniqueArray(server, { selector: (one) => one.name, maxLength: 5 })
  fc.assert(
    fc.property(servers, (all) => {
      const rows = all.map(
        (one) => `web,${one.name},${one.qcur},${one.scur},"${one.lastCheck.replaceAll('"', '""')}",\nother,${one.name},1,1,"",\n`,
      )
      const wanted = Object.fromEntries(all.map((one) => [one.name, one.scur + one.qcur]))
      expect(inFlightOf(`# pxname,svname,qcur,scur,last_chk,\n${rows.join('')}`)).toEqual(wanted)
    }),
  )
})

test('whatever comes, each count is a whole number', () => {
  const noise = fc.string({ unit: fc.constantFrom('web', 'a', ',', '"', '\n', '1', '-', '.5', ' ') })
  fc.assert(
    fc.property(noise, (text) => {
      const counts = [...parseInFlight(`# pxname,svname,qcur,scur\n${text}`, 'web').values()]
      expect(counts.every(({ inFlight }) => Number.isInteger(inFlight) && inFlight >= 0)).toBe(true)
    }),
    { numRuns: 1_000 },
  )
})

test('the epoch holds the start time too: in a container the process id repeats', () => {
  const first = parseInfo('Name: HAProxy\nPid: 8\nStopping: 0\nStart_time_sec: 100\n')
  const second = parseInfo('Name: HAProxy\nPid: 8\nStopping: 1\nStart_time_sec: 160\n')
  expect(first?.epoch).not.toBe(second?.epoch)
  expect([first?.isStopping, second?.isStopping]).toEqual([false, true])
  expect(parseInfo('Unknown command')).toBeUndefined()
})
