import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/* Several places state the required Node, and an older Node must be able to read some of them. */

const ROOT = join(import.meta.dirname, '..')
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

interface Manifest {
  dev?: boolean
  engines?: { node?: string }
}

const { engines } = JSON.parse(read('package.json')) as Manifest
const needed = engines!.node!.replace('>=', '')

/** Turns `>= 22.19.0` into a number for comparison. */
function numberOf(range: string): number {
  const [, major = '0', minor = '0'] = /^\D*(\d+)(?:\.(\d+))?/.exec(range) ?? []
  return Number(major) * 1000 + Number(minor)
}

test('as new as each package that travels with it asks for', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Manifest> }
  const asked = Object.entries(packages).flatMap(([path, { dev, engines: own }]) =>
    path === '' || dev === true || own?.node === undefined ? [] : [{ path, node: own.node }],
  )
  expect(asked.length).toBeGreaterThan(10)
  expect(asked.filter(({ node }) => numberOf(node) > numberOf(needed))).toEqual([])
})

test.each(['README.md', 'scripts/check-node.js', 'src/cli/sluice.ts'])('%s says the same', (file) => {
  const said = [...read(file).matchAll(/Node (\d+\.\d+)/g)].map(([, version]) => version)
  expect(new Set(said)).toEqual(new Set([needed]))
})

test.each(['scripts/check-node.js', 'src/cli/sluice.ts'])('%s goes by it', (file) => {
  const [major, minor] = needed.split('.')
  expect(read(file)).toContain(`if (major < ${major} || (major === ${major} && minor < ${minor})) {`)
})
