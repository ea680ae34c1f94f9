import { expect, test } from 'vitest'
import { createColors } from '../../src/cli/output/color.ts'
import type { Sink } from '../../src/cli/output/sink.ts'
import { furtherPages } from './pages.ts'
import { createShow } from './show.ts'

test.each([
  ['report.html', 'pod by pod: open it in a browser; it stays until you remove it\n'],
  ['report.json', 'pod by pod; it stays until you remove it\n'],
])('%s is said to be what it is', (report, words) => {
  let said = ''
  const write = (text: string): void => void (said += text)
  const out: Sink = { write, isTerminal: false, columns: 80, rows: 24, isLost: false, backlog: 0, flush: async () => {} }
  createShow({ out, colors: createColors(false), isLive: false }).conclude([], [], report)
  expect(said).toContain(`  ${report}\n      what sluice did in act 3, ${words}`)
  for (const { file, about } of furtherPages()) expect(said).toContain(`  ${file}\n      ${about}\n`)
})
