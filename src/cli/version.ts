import { readFileSync } from 'node:fs'

/** The build defines the constant, so that the bundle needs no file beside it. */
declare const SLUICE_VERSION: string | undefined

export function sluiceVersion(): string {
  if (typeof SLUICE_VERSION === 'string') return SLUICE_VERSION
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
  return manifest.version
}
