import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { drawing, podStates } from '../../scripts/draw-machine.ts'
import { currentPage } from '../../scripts/write-json-page.ts'
import { currentMetricsPage } from '../../scripts/write-metrics-page.ts'
import { currentReadme, readResults, table } from '../../scripts/versions-table.ts'
import { currentReasonsPage } from '../../scripts/write-reasons-page.ts'
import { currentSchemas } from '../../scripts/write-schema.ts'
import { words } from '../../src/report/words/words.ts'
import { LIMITS } from '../../src/server/limits.ts'
import { kubernetesVersions } from '../cluster/kubernetes-versions.ts'
import { page, ROOT } from './pages.ts'

test('the JSON Schemas are of now: node scripts/write-schema.ts', async () => {
  for (const [name, schema] of Object.entries(await currentSchemas()))
    expect(JSON.parse(readFileSync(join(ROOT, name), 'utf8'))).toEqual(schema)
})

test('docs/json.md has the declarations of now: node scripts/write-json-page.ts', () => {
  expect(page('docs/json.md').text).toBe(currentPage())
  expect(currentPage()).toMatch(/^interface RunReport \{$/m)
})

test('docs/reasons.md has the reasons of now: node scripts/write-reasons-page.ts', () => {
  expect(page('docs/reasons.md').text).toBe(currentReasonsPage())
})

test('docs/reasons.md has every code, each in one place', () => {
  const named = [...page('docs/reasons.md').text.matchAll(/^ {2}'?([a-z][a-z-]*)'?: /gm)].map(([, code]) => code)
  for (const code of Object.keys(words))
    expect(
      named.filter((one) => one === code),
      code,
    ).toEqual([code])
})

test('the tables of docs/metrics.md are of now: node scripts/write-metrics-page.ts', () => {
  expect(page('docs/metrics.md').text).toBe(currentMetricsPage())
  expect(currentMetricsPage()).toMatch(/^\| `sluice_findings` \| `observe` \| gauge \|/m)
  expect(currentMetricsPage()).toMatch(/^\| `KubeSchedulerNoData` \| critical \|/m)
})

test('docs/metrics.md has the limits of the server', () => {
  const { text } = page('docs/metrics.md')
  const limits = `${LIMITS.largestHeaderBytes / 1024} KiB of headers within ${LIMITS.headersMs / 1000} s, and a body of ${LIMITS.largestBodyBytes / 1024 ** 2} MiB within ${LIMITS.requestMs / 1000} s`
  expect(text.replaceAll(/\s+/g, ' ')).toContain(limits)
})

test('the drawing in docs/states.md is of now: node scripts/draw-machine.ts', () => {
  expect(page('docs/states.md').text).toContain(`\n${drawing()}\n`)
})

test('the table of versions in README.md is of now: node scripts/versions-table.ts', () => {
  expect(page('README.md').text).toBe(currentReadme())
})

test('the table has every version that the tests can run on, in order, each without a failed test or request', () => {
  const results = readResults()
  expect(results.map(({ version }) => version.replace(/^v(.+)\.\d+$/, '$1'))).toEqual(kubernetesVersions)
  for (const result of results) {
    expect(result).toMatchObject({ failed: 0, failedRequests: 0 })
    expect(result.requests).toBeGreaterThan(0)
  }
})

test('a failure of a version is in its row', () => {
  const result = {
    version: 'v1.35.4',
    date: '2026-11-29',
    commit: 'abc1234',
    passed: 50,
    requests: 5_000,
    proofs: { quiet: 2, image: 1 },
  }
  expect(table([{ ...result, failed: 2, failedRequests: 7 }])).toContain(
    '| 1.35.4 | 2026-11-29 | `abc1234` | 50 passed, 2 failed | 7 of 5,000 | image 1, quiet 2 |\n',
  )
})

test('docs/states.md explains every state, and no other', () => {
  const explained = [...page('docs/states.md').text.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
  expect(explained).toEqual([...podStates().keys()])
})

test('docs/dependencies.md has a line for every dependency, and no other', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<
    'dependencies' | 'devDependencies',
    Record<string, string>
  >
  const lines = [...page('docs/dependencies.md').text.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name)
  expect(lines.sort()).toEqual(Object.keys({ ...dependencies, ...devDependencies }).sort())
})
