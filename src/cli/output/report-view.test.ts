import { expect, test } from 'vitest'
import { buildReport } from '../../report/build-report.ts'
import { sampleRecord } from '../../report/testing/sample-record.ts'
import { createWriting } from '../../report/words/words.ts'
import { createColors } from './color.ts'
import { reportLines, runLines } from './report-view.ts'

const colors = createColors(false)
const write = createWriting()

test('a run as text: how it ended, and a line for each pod', () => {
  const lines = reportLines(buildReport(sampleRecord({ pods: 3, window: 1, broken: 1, lost: 2 })), colors, write)
  expect(lines.slice(0, 3)).toEqual([
    'run wgnbiszr2y of statefulset/web in namespace shop: app=registry.example/shop/app:v2',
    'Failed: web-1: no proof of the restart in time: container app ImagePullBackOff: Back-off pulling image',
    expect.stringMatching(/^began 2026-11-21T10:17:53.120Z, took \d+s$/),
  ])
  expect(lines[5]).toMatch(/^web-2 {2}upgraded +\d+\.\ds +\d+\.\ds +witness +1 drain, 1 restore, 2 unusual$/)
  expect(lines[6]).toMatch(/^web-1 {2}failed +still out .* 1 drain, 0 restores +no proof of the restart in time/)
  expect(lines[7]).toMatch(/^web-0 {2}unchanged .* none +not started$/)
  expect(lines.slice(-2)).toEqual(['Warnings:', '  web-1 failed: no further pod is started'])
})

test('what comes from outside is inert', () => {
  const record = sampleRecord({ pods: 1, window: 1 })
  record.pods[0]!.pod = 'web\u001b[31m\u202e'
  const lines = reportLines(buildReport({ ...record, namespace: 'a\nb' }), colors, write)
  for (const active of ['\u001b', '\u202e']) expect(lines.join('')).not.toContain(active)
  expect(lines[0]).toContain('in namespace a b')
})

test('no run, and several', () => {
  expect(runLines('shop', [])).toEqual(['No run is on record in namespace shop.'])
  const run = {
    run: 'r1',
    workloads: ['statefulset/web'],
    images: [{ container: 'app', image: 'app:v2' }],
    undoes: 'r0',
    startedAt: '2026-01-01T00:00:00.000Z',
    endedAt: '2026-01-01T00:01:30.000Z',
    outcome: 'done',
    reason: { code: 'nothing-open-any-more' } as const,
  }
  const [head, line] = runLines('shop', [run]).map((text) => text.split(/ {2,}/))
  expect(head).toEqual(['RUN', 'WORKLOAD', 'REQUEST', 'STARTED', 'TOOK', 'OUTCOME'])
  expect(line).toEqual(['r1', 'statefulset/web', 'undo of r0: app=app:v2', '2026-01-01T00:00:00.000Z', '1m30s', 'done'])
})
