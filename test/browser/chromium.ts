import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { chromium } from 'playwright-core'

const PLACES = [process.env['CHROMIUM'], '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** The browser that the system brings; undefined where it brings none. */
export const CHROMIUM = PLACES.find((path) => path !== undefined && existsSync(path))

/** It runs as root in CI, and asks nobody outside for anything. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export interface Browser {
  /** A page of its own, with what it has asked for and said. */
  open(url: string, options?: BrowserContextOptions): Promise<OpenPage>
  close(): Promise<void>
}

export interface OpenPage {
  page: Page
  /** Addresses, other than that of the page itself. */
  requests: string[]
  /** Messages on the console, errors of scripts, and dialogs. */
  said: string[]
  close(): Promise<void>
}

export async function startBrowser(): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'sluice-chromium-'))
  const first = await chromium.launchPersistentContext(profile, { executablePath: CHROMIUM!, args: FLAGS, headless: true })
  return {
    async open(url, options) {
      const context = await first.browser()!.newContext(options)
      const page = await context.newPage()
      const requests: string[] = []
      const said: string[] = []
      page.on('request', (request) => {
        if (request.url() !== url) requests.push(request.url())
      })
      page.on('console', (message) => said.push(message.text()))
      page.on('pageerror', (error) => said.push(String(error)))
      page.on('dialog', (dialog) => {
        said.push(`dialog: ${dialog.message()}`)
        void dialog.dismiss()
      })
      await page.goto(url, { waitUntil: 'load' })
      return { page, requests, said, close: () => context.close() }
    },
    async close() {
      await first.close()
      rmSync(profile, { recursive: true, force: true })
    },
  }
}
