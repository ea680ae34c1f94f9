import { join } from 'node:path'
import { describe, test, vi } from 'vitest'
import type { Adapter } from '../contract.ts'
import { makeRestBed } from '../conformance/beds/rest.ts'
import { describeAdapter } from '../conformance/conformance.ts'
import { exec } from './index.ts'

// Each call of a case starts a program.
vi.setConfig({ testTimeout: 120_000 })

const EXAMPLES = join(import.meta.dirname, 'examples')
/** The short deadline in milliseconds. On a busy machine, a program needs a second to start. */
const SHORT_DEADLINE_MS = 4_000

function create(command: string[], { url, tokenFile }: { url: string; tokenFile?: string }): Adapter {
  const options = {
    command,
    settings: { url },
    ...(tokenFile === undefined ? {} : { env: { LB_TOKEN: { file: tokenFile } } }),
    capabilities: { inFlight: 'exact', settle: '0s' },
  }
  return exec.create(exec.options.parse(options), { name: 'edge' })
}

describe.each([
  ['in JavaScript', [process.execPath, join(EXAMPLES, 'lb.mjs')]],
  ['in Python', [join(EXAMPLES, 'lb.py')]],
])('a program %s', (_, command) => {
  describeAdapter({ describe, test }, 'exec', async ({ servers }) => ({
    ...(await makeRestBed({ servers, create: (api) => create(command, api) })),
    shortDeadlineMs: SHORT_DEADLINE_MS,
  }))
})
