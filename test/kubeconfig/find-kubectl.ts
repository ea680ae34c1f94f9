import { spawnSync } from 'node:child_process'
import { ensureKubectl } from '../cluster/binaries.ts'

/** The one of the cluster's version, built where there is Go; else the one in PATH; undefined where there is neither. */
export async function findKubectl(): Promise<string | undefined> {
  if (spawnSync('go', ['version']).status === 0) return ensureKubectl()
  return spawnSync('kubectl', ['version', '--client']).status === 0 ? 'kubectl' : undefined
}
