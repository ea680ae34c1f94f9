import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

/** The resources that a program has used, from its start to its end. */
export interface Usage {
  code: number | null
  stdout: string
  stderr: string
  wallMs: number
  /** User and system time. */
  cpuMs: number
  peakMemoryBytes: number
}

const REPORT = 3
/** A module that is loaded before everything else in the process. The usage until then belongs to Node itself. */
const REPORTER = `import { writeSync } from 'node:fs'
process.once('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
  writeSync(${REPORT}, JSON.stringify({ cpuMs: (userCPUTime + systemCPUTime) / 1_000, peakMemoryBytes: maxRSS * 1_024 }))
})`
const PRELOAD = `data:text/javascript,${encodeURIComponent(REPORTER)}`

/** Runs a script with this Node to its end. */
export async function runMeasured(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<Usage> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, ['--import', PRELOAD, ...args], { env, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] })
  const [stdout, stderr, report, [code]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    text(child.stdio[REPORT] as NodeJS.ReadableStream),
    once(child, 'exit') as Promise<[number | null]>,
  ])
  const wallMs = performance.now() - startedAt
  return { code, stdout, stderr, wallMs, ...(JSON.parse(report) as { cpuMs: number; peakMemoryBytes: number }) }
}
