import { spawn } from 'node:child_process'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SluiceExit, UpgradeBed } from '../upgrade-bed.ts'

const SLUICE = fileURLToPath(new URL('../../../src/cli/sluice.ts', import.meta.url))

/** Returns the command that sluice has printed to continue from here. */
export function printedCommand({ stderr }: Pick<SluiceExit, 'stderr'>): string | undefined {
  const lines = stderr.split('\n')
  const heading = lines.findLastIndex((line) => line.includes('To go on from here'))
  return heading < 0 ? undefined : lines[heading + 1]?.trim()
}

/** Gives the printed line to a shell with `sluice` on its PATH, as a user would. */
export async function runAsPrinted(bed: UpgradeBed, command: string): Promise<Pick<SluiceExit, 'code' | 'stdout' | 'stderr'>> {
  const bin = join(dirname(bed.configFile), 'bin')
  await mkdir(bin, { recursive: true })
  await writeFile(join(bin, 'sluice'), `#!/bin/sh\nexec "${process.execPath}" "${SLUICE}" "$@"\n`)
  await chmod(join(bin, 'sluice'), 0o755)
  const child = spawn('sh', ['-c', command], {
    env: { ...process.env, PATH: `${bin}:${process.env['PATH']}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })))
}
