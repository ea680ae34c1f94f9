import { expect, test } from 'vitest'
import { parseEvents, parseHeader, recordingHeader } from './recording.ts'

const options = { clusters: ['east'], allNamespaces: true, graceMs: 10_000, startedAt: 1 }
const EVENT = '{"at":5,"type":"pod-gone","cluster":"east","uid":"u"}'

const unknown: string[] = []
async function eventsOf(...lines: string[]) {
  const events = []
  for await (const event of parseEvents(lines, (type) => unknown.push(type))) events.push(event)
  return events
}

test('a header says how its events were looked at', () => {
  expect(parseHeader(JSON.stringify(recordingHeader(options)))).toEqual(options)
})

test.each(['sluice.dev/v9', undefined])('version %j is not read', (apiVersion) => {
  const line = JSON.stringify({ ...recordingHeader(options), apiVersion })
  expect(() => parseHeader(line)).toThrow(expect.objectContaining({ problem: 'other-version' }))
})

const NO_CLUSTERS = JSON.stringify({ ...recordingHeader(options), clusters: [1] })
test.each(['', 'no json', '{}', NO_CLUSTERS])('%j is no header', (line) =>
  expect(() => parseHeader(line)).toThrow(expect.objectContaining({ problem: 'no-recording' })),
)

test('a last line that is half written is left out; one in the middle is a mistake', async () => {
  expect(await eventsOf(EVENT, '{"at":6,"ty')).toEqual([JSON.parse(EVENT)])
  await expect(eventsOf(EVENT, '{"at":6,"ty', EVENT)).rejects.toMatchObject({ problem: 'no-event', line: 3 })
  await expect(eventsOf('{"at":6,"type":"pod"}', EVENT)).rejects.toMatchObject({ problem: 'no-event', line: 2 })
})

test('events of a newer sluice are left out and told; one that lacks a part is a mistake', async () => {
  const more = '{"at":5,"type":"lease","cluster":"east"}'
  expect(await eventsOf(more, EVENT, more)).toEqual([JSON.parse(EVENT)])
  expect(unknown).toEqual(['lease', 'lease'])
  await expect(eventsOf('{"at":5,"type":"pod","cluster":"east"}', EVENT)).rejects.toMatchObject({ problem: 'no-event', line: 2 })
  await expect(eventsOf('{"at":5,"type":"toString"}', EVENT)).resolves.toHaveLength(1)
})
