import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

export interface TemporaryFolder {
  path: string
  /** Writes a file, and returns its path. An object is written as JSON, which is YAML too. */
  write(name: string, content: string | object): string
  /** Writes a shell script, and returns its path. */
  script(name: string, lines: string[]): string
  remove(): void
}

export function makeTemporaryFolder(): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), 'sluice-kube-'))
  function write(name: string, content: string | object): string {
    const file = join(path, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
    return file
  }
  return {
    path,
    write,
    script(name, lines) {
      const file = write(name, ['#!/bin/sh', ...lines, ''].join('\n'))
      chmodSync(file, 0o755)
      return file
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  }
}
