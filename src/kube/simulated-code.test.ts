import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** Modules whose effects a simulation cannot replay or observe. */
const FORBIDDEN =
  /\b(Date|performance|process|queueMicrotask|setImmediate|setInterval|Math\.random|randomUUID|AbortSignal\.timeout|WeakRef)\b|for await|async \*|(?<![.\w])setTimeout\b/

interface Found {
  modules: Set<string>
  packages: Set<string>
}

/** The modules that `entry` loads, without type imports, and the packages among them. */
function reach(entry: string, found: Found = { modules: new Set(), packages: new Set() }): Found {
  if (found.modules.has(entry)) return found
  found.modules.add(entry)
  for (const [, clause = '', from = ''] of readFileSync(entry, 'utf8').matchAll(/^(?:import|export) ([^'"]*)from '([^']+)'/gm)) {
    if (clause.startsWith('type ')) continue
    if (from.startsWith('.')) reach(join(entry, '..', from), found)
    else found.packages.add(from)
  }
  return found
}

function at(file: string): string {
  return join(import.meta.dirname, file)
}

test('the client and the reflector load no package and no node module: the same code runs in simulation', () => {
  for (const entry of ['kube-client.ts', 'reflector.ts', 'access.ts']) {
    const { modules, packages } = reach(at(entry))
    expect([entry, [...packages]]).toEqual([entry, []])
    expect(modules.size).toBeGreaterThanOrEqual(3)
    for (const module of modules) {
      const code = readFileSync(module, 'utf8').replaceAll(/\/\*[^]*?\*\/|\/\/.*$/gm, '')
      expect([module, FORBIDDEN.exec(code)?.[0]]).toEqual([module, undefined])
    }
  }
})

test('control: the walk finds packages and forbidden words where they are', () => {
  expect([...reach(at('connect.ts')).packages]).toEqual(expect.arrayContaining(['yaml', 'undici', 'node:fs']))
  for (const code of ['Date.now()', 'setTimeout(f, 1)', 'AbortSignal.timeout(5)', 'for await (const a of b)']) {
    expect(FORBIDDEN.test(code)).toBe(true)
  }
  expect(FORBIDDEN.test('clock.setTimeout(f, 1)')).toBe(false)
})
