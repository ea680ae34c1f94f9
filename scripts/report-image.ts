// Draws docs/images/report.png: the report of a made-up run.
//   node scripts/report-image.ts
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { buildReport } from '../src/report/build-report.ts'
import { reportPage } from '../src/report/html/page.ts'
import { sampleRecord } from '../src/report/testing/sample-record.ts'
import { createWriting } from '../src/report/words/words.ts'
import { CHROMIUM, startBrowser } from '../test/browser/chromium.ts'

const image = resolve(import.meta.dirname, '../docs/images/report.png')
if (CHROMIUM === undefined) throw new Error('no Chromium: apt-get install chromium')
const folder = mkdtempSync(join(tmpdir(), 'sluice-image-'))
const file = join(folder, 'report.html')
writeFileSync(file, reportPage(buildReport(sampleRecord({ pods: 6, window: 2, lost: 3, broken: 0 })), createWriting()))
const browser = await startBrowser()
try {
  const { page } = await browser.open(pathToFileURL(file).href, { viewport: { width: 1180, height: 1100 }, colorScheme: 'light' })
  mkdirSync(dirname(image), { recursive: true })
  await page.screenshot({ path: image })
} finally {
  await browser.close()
  rmSync(folder, { recursive: true })
}
console.log(`${image}: ${Math.round(statSync(image).size / 1000)} kB`)
