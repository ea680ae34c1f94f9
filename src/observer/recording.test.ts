import { expect, test } from 'vitest'
import { parseEvents, parseHeader, recordingHeader } from './recording.ts'

const options = { clusters: ['east'], allNamespaces: true, graceMs: 10_000, startedAt: 1 }
const EVENT = '{"at":5,"type":"pod-gone","cluster":"east","uid":"u"}'

async function eventsOf(...lines: string[]) {
  const events = []
  for await (const event of parseEvents(lines)) events.push(event)
  return events
}

test('a header says how its events were looked at', () => {
  expect(parseHeader(JSON.stringify(recordingHeader(options)))).toEqual(options)
})

test.each(['', 'no json', '{}', '{"kind":"ObserverRecording","clusters":[1],"allNamespaces":true,"graceMs":1,"startedAt":1}'])(
  '%j is no header',
  (line) => expect(() => parseHeader(line)).toThrow(expect.objectContaining({ problem: 'no-recording' })),
)

test('a last line that is half written is left out; one in the middle is a mistake', async () => {
  expect(await eventsOf(EVENT, '{"at":6,"ty')).toEqual([JSON.parse(EVENT)])
  await expect(eventsOf(EVENT, '{"at":6,"ty', EVENT)).rejects.toMatchObject({ problem: 'no-event', line: 3 })
  await expect(eventsOf('{"at":6,"type":"pod"}', EVENT)).rejects.toMatchObject({ problem: 'no-event', line: 2 })
})
