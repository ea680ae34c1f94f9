import { spawnSync } from 'node:child_process'
import type { Program } from './program.ts'

/** Finds promtool of Prometheus in PATH, or by SLUICE_PROMTOOL. */
export function findPromtool(): Program {
  const program = process.env['SLUICE_PROMTOOL'] ?? 'promtool'
  const { stdout, error } = spawnSync(program, ['--version'], { encoding: 'utf8' })
  const version = /\d+\.\d+\.\d+/.exec(stdout ?? '')?.[0]
  if (error !== undefined || version === undefined)
    return { title: `promtool: ${error?.message ?? 'it does not say its version'}`, program: undefined, version: undefined }
  return { title: `promtool ${version}`, program, version }
}
