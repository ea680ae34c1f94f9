import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { buildReport } from '../../src/report/build-report.ts'
import { reportPage } from '../../src/report/html/page.ts'
import type { Report } from '../../src/report/report.ts'
import { at, sampleRecord } from '../../src/report/testing/sample-record.ts'
import { adviceLines } from '../../src/report/words/advice.ts'
import { worded } from '../../src/report/words/document.ts'
import { createWriting } from '../../src/report/words/words.ts'
import { CHROMIUM, startBrowser, type Browser, type OpenPage } from './chromium.ts'

/* The HTML report as a person has it before him. Skipped, and counted as skipped, where the system brings no Chromium. */

const PHASES = 9
const write = createWriting()
const pageOf = (report: Report): string => reportPage(report, write)

/** Each would do something, if it were taken for markup, script, or an address. */
const HOSTILE = [
  '</script><script>alert("script")</script>',
  '<img src=x onerror=alert("img")>',
  `"'><svg onload=alert('svg')>`,
  '</title></style><script src="http://127.0.0.1:9/hostile.js"></script>',
  '<!--<script>',
  '\u202ered\u2066 \u0000 \u001b[31m &amp; \u2028',
  `${'a'.repeat(253)}`,
  '<iframe src="http://127.0.0.1:9/">',
  'javascript:alert("address")',
  '${alert("template")}',
]

interface Look {
  page: string
  bar: string
  /** Of text to what is behind it. */
  contrasts: number[]
}

/** Runs in the page; contrast as WCAG counts it. */
const LOOK = `(() => {
  const luminance = (colour) => {
    const [red, green, blue] = colour.match(/[\\d.]+/g).map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const contrast = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b)
    return (high + 0.05) / (low + 0.05)
  }
  const style = (selector) => getComputedStyle(document.querySelector(selector))
  const behind = style('.card').backgroundColor
  return {
    page: style('body').backgroundColor,
    bar: style('rect.p-warming').fill,
    contrasts: [
      contrast(style('body').color, style('body').backgroundColor),
      contrast(style('th').color, behind),
      contrast(style('td a').color, behind),
      ...[...document.querySelectorAll('.badge')].map(getComputedStyle).map(({ color, backgroundColor }) => contrast(color, backgroundColor)),
    ],
  }
})()`

/** Whatever text stands in a report stands in all of them; the words of a reason go by its code. */
function hostileReport(text: string): Report {
  const report = buildReport(sampleRecord({ pods: 4, window: 2, lost: 2, broken: 0 }), [
    { at: at(4000), kind: '503', pod: 'web-1', detail: 'GET /' },
    { at: at(5000), kind: 'reset' },
  ])
  const isMeaning = new Set(['apiVersion', 'kind', 'at', 'fromAt', 'toAt', 'startedAt', 'endedAt', 'code', 'command'])
  const spoiled = JSON.parse(
    JSON.stringify(
      { ...report, warnings: [{ pod: '', reason: { code: 'error', said: '' } }], missing: [''] },
      (key, value: unknown) => (typeof value === 'string' && !isMeaning.has(key) ? text : value),
    ),
  ) as Report
  return { ...spoiled, failures: spoiled.failures.map((failure) => ({ ...failure, kind: text })) }
}

describe.skipIf(CHROMIUM === undefined)('the HTML report in Chromium (apt-get install chromium)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-page-'))
  let browser: Browser
  let pages = 0

  beforeAll(async () => {
    browser = await startBrowser()
  }, 60_000)
  afterAll(async () => {
    await browser.close()
    rmSync(folder, { recursive: true })
  }, 60_000)

  async function open(...args: Parameters<Browser['open']>): Promise<OpenPage> {
    const opened = await browser.open(...args)
    onTestFinished(() => opened.close())
    return opened
  }

  function urlOf(page: string): string {
    const file = join(folder, `${(pages += 1)}.html`)
    writeFileSync(file, page)
    return pathToFileURL(file).href
  }

  const small = buildReport(sampleRecord({ pods: 9, window: 2, lost: 5, broken: 1 }), [
    { at: at(4000), kind: '503', pod: 'web-6' },
    { at: at(6000), kind: 'reset' },
  ])

  test('a row a pod, a bar a phase, failures as ticks; it asks for nothing and says nothing', async () => {
    const { page, requests, said } = await open(urlOf(pageOf(small)))
    expect(await page.title()).toBe('statefulset/web: Failed')
    expect(await page.locator('#pods ~ .card tbody tr').count()).toBeGreaterThanOrEqual(9)
    const lane = page.locator('.lanes .lane[data-find^="web-6 "]')
    expect(await lane.locator('rect.bar').count()).toBe(PHASES)
    expect(await lane.locator('line.tick').count()).toBe(1)
    // The one that failed to come up, a call that nobody answered and its read-back, a failure of no known pod.
    expect(await page.locator('.lanes .lane[data-find^="web-1 "] line.tick').count()).toBe(1)
    expect(await page.locator('.lanes .lane[data-find^="web-5 "] line.odd').count()).toBe(2)
    expect(await page.locator('.lanes .lane:not([data-find]) line.tick').count()).toBe(1)
    // Bars follow each other on the page as they do in time.
    const places = await lane.locator('rect.bar').evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().left))
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    const embedded: unknown = JSON.parse((await page.locator('#report').textContent())!)
    expect(embedded).toEqual(worded(small, write))
    expect({ requests, said }).toEqual({ requests: [], said: [] })
  })

  test('what is known of a pod opens by its link, and is found by the filter', async () => {
    const { page, said } = await open(urlOf(pageOf(small)))
    await page.locator('tbody a', { hasText: 'web-5' }).click()
    const details = page.locator('details.pod[data-find^="web-5 "]')
    await expect.poll(() => details.getAttribute('open')).not.toBeNull()
    const text = await details.innerText()
    expect(text).toContain('witness: the container of the first status that has seen the patch was replaced')
    expect(text).toContain('read back as it was before: {"state":"ready","weight":100}')
    expect(text).toContain('confirmed')

    await page.locator('#outcome').selectOption('failed')
    expect(await page.locator('#count').textContent()).toBe('1 of 9 pods')
    expect(await page.locator('.lane[data-find]:visible').count()).toBe(1)
    await page.locator('#outcome').selectOption('')
    await page.locator('#filter').fill('NODE-0')
    expect(await page.locator('#count').textContent()).toBe('2 of 9 pods')
    expect(said).toEqual([])
  })

  test('over HTTP it asks for nothing either, not even for an icon', async () => {
    const asked: string[] = []
    const server: Server = createServer((request, response) => {
      asked.push(request.url!)
      response.setHeader('content-type', 'text/html').end(pageOf(small))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const { requests, said } = await open(`http://127.0.0.1:${(server.address() as AddressInfo).port}/report.html`)
      // The empty icon is an address of data.
      const fetched = requests.filter((address) => address !== 'data:,')
      expect({ asked, fetched, said }).toEqual({ asked: ['/report.html'], fetched: [], said: [] })
    } finally {
      server.close()
    }
  })

  test('without JavaScript everything is there but the filter', async () => {
    const { page } = await open(urlOf(pageOf(small)), { javaScriptEnabled: false })
    expect(await page.locator('.controls').isVisible()).toBe(false)
    expect(await page.locator('tbody tr', { hasText: 'web-5' }).first().isVisible()).toBe(true)
    expect(await page.locator('rect.bar').count()).toBeGreaterThan(7 * PHASES)
    await page.locator('details.pod summary', { hasText: 'web-1' }).click()
    const { advice = [] } = small.pods.find(({ pod }) => pod === 'web-1')!
    const told = advice.flatMap((one) => adviceLines(one, write))
    expect(told.length).toBeGreaterThan(0)
    expect(await page.locator('pre').innerText()).toBe(told.join('\n'))
  })

  test('light and dark differ, and text can be read in both', async () => {
    const url = urlOf(pageOf(small))
    const look = async (colorScheme: 'light' | 'dark') => {
      const { page } = await open(url, { colorScheme })
      return page.evaluate<Look>(LOOK)
    }
    const [light, dark] = [await look('light'), await look('dark')]
    expect(light.page).not.toBe(dark.page)
    expect(light.bar).not.toBe(dark.bar)
    // WCAG AA for text.
    for (const contrast of [...light.contrasts, ...dark.contrasts]) expect(contrast).toBeGreaterThan(4.5)
  })

  async function elements(page: string) {
    const { page: shown, requests, said } = await open(urlOf(page))
    const names = await shown.evaluate<string>(`[...document.querySelectorAll('*')].map(({ localName }) => localName).join(' ')`)
    return { requests, said, names, text: await shown.locator('body').innerText() }
  }

  test.each(HOSTILE.map((text) => [JSON.stringify(text.slice(0, 40)), text]))(
    'is inert wherever it stands: %s',
    async (_, text) => {
      const { names } = await elements(pageOf(hostileReport('harmless')))
      const hostile = await elements(pageOf(hostileReport(text)))
      expect({ requests: hostile.requests, said: hostile.said }).toEqual({ requests: [], said: [] })
      // Not one element more, nor less, nor another one.
      expect(hostile.names).toBe(names)
      for (const active of ['\u202e', '\u0000', '\u001b']) expect(hostile.text).not.toContain(active)
    },
  )

  test('control: where the escaping is off, this is seen', async () => {
    const page = pageOf(hostileReport('harmless'))
    const { names } = await elements(page)
    const planted = await elements(page.replaceAll('<td>harmless</td>', `<td>${HOSTILE[1]}</td>`))
    expect(planted.names).not.toBe(names)
    // The policy holds where the escaping does not: it is blocked, which is told on the console.
    expect(planted.said.join()).toContain('Content Security Policy')
    expect(planted.said.join()).not.toContain('dialog')
    const unguarded = page
      .replace(/<meta\s+http-equiv="Content-Security-Policy"[^>]*>/, '')
      .replaceAll('<td>harmless</td>', `<td>${HOSTILE[1]}</td>`)
    const { said, requests } = await elements(unguarded)
    expect(said.join()).toContain('dialog: img')
    expect(requests.length).toBeGreaterThan(0)
  })

  test('1,000 pods are ten times as large as 100, and not much slower for it', async () => {
    const measured = []
    for (const pods of [100, 1000]) {
      const html = pageOf(buildReport(sampleRecord({ pods, window: pods / 20 })))
      const url = urlOf(html)
      const since = performance.now()
      const { page, said, requests } = await open(url)
      expect(await page.locator('rect.bar').count()).toBe(pods * PHASES)
      await page.locator('#filter').fill('web-99')
      expect(await page.locator('#count').textContent()).toBe(`${pods === 100 ? 1 : 11} of ${pods} pods`)
      expect(await page.locator('.lane[data-find]:not([hidden])').count()).toBe(pods === 100 ? 1 : 11)
      expect({ said, requests }).toEqual({ said: [], requests: [] })
      measured.push({ bytes: html.length, ms: performance.now() - since })
    }
    const [small100, large] = measured
    expect(large!.bytes / small100!.bytes).toBeLessThan(11)
    // Ten times the work, and room for a machine that is busy.
    expect(large!.ms / small100!.ms).toBeLessThan(30)
  }, 120_000)
})
