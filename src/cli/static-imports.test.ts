import { readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { parseAst } from 'rolldown/parseAst'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')

interface Walk {
  files: string[]
  packages: string[]
}

/** Returns the static imports of a module: all but `import type` and `import()`. */
function staticImports(file: string): string[] {
  return parse(readFileSync(file, 'utf8')).flatMap((node) => {
    if (node.type === 'ImportDeclaration') return node.importKind === 'type' ? [] : [node.source.value]
    if (node.type === 'ExportAllDeclaration') return node.exportKind === 'type' ? [] : [node.source.value]
    if (node.type === 'ExportNamedDeclaration')
      return node.source === null || node.exportKind === 'type' ? [] : [node.source.value]
    return []
  })
}

/** Returns the modules that it may load later. */
function lazyImports(file: string): string[] {
  const specifiers: string[] = []
  everyNode(parse(readFileSync(file, 'utf8')), ({ type, source }) => {
    // Only the config knows the path of a plugin.
    if (type === 'ImportExpression' && typeof (source as { value?: unknown }).value === 'string')
      specifiers.push((source as { value: string }).value)
    return true
  })
  return specifiers
}

function reachable(entry: string, importsOf: (file: string) => string[] = staticImports): Walk {
  const files = new Set<string>()
  const packages = new Set<string>()
  const visit = (file: string): void => {
    if (files.has(file)) return
    files.add(file)
    for (const specifier of importsOf(file)) {
      if (specifier.startsWith('.')) visit(resolve(dirname(file), specifier))
      else if (!specifier.startsWith('node:')) packages.add(specifier)
    }
  }
  visit(join(ROOT, entry))
  return { files: [...files].map((file) => relative(ROOT, file)), packages: [...packages] }
}

function parse(source: string) {
  return parseAst(source, { lang: 'ts', sourceType: 'module' }).body
}

/** Visits each node, and the nodes below it where `enter` returns true. */
function everyNode(node: unknown, enter: (node: Record<string, unknown>) => boolean): void {
  if (Array.isArray(node)) for (const item of node) everyNode(item, enter)
  else if (typeof node === 'object' && node !== null && enter(node as Record<string, unknown>))
    everyNode(Object.values(node), enter)
}

function hasTopLevelAwait(source: string): boolean {
  let found = false
  everyNode(parse(source), ({ type, await: isForAwait }) => {
    if (type === 'AwaitExpression' || (type === 'ForOfStatement' && isForAwait === true)) found = true
    return !String(type).includes('Function')
  })
  return found
}

test('the entry loads nothing but node core, so that the compile cache is on before anything else', () => {
  expect(reachable('src/cli/sluice.ts')).toEqual({ files: ['src/cli/sluice.ts'], packages: [] })
})

test('--help loads commander, and nothing else that has to be installed', () => {
  const { files, packages } = reachable('src/cli/main.ts')
  expect(packages).toEqual(['commander'])
  expect(files.filter((file) => !file.startsWith('src/cli/')).toSorted()).toEqual([
    'src/kube/header-value.ts',
    'src/library/exit-codes.ts',
    'src/library/request/quote.ts',
    'src/ports/system.ts',
    'src/report/inert.ts',
    'src/webhook/rights.ts',
  ])
  expect(files).toContain('src/cli/commands/upgrade.ts')
})

test('a mistake on the command line is told before the engine and the client are loaded', () => {
  expect(reachable('src/cli/actions/upgrade-action.ts').packages).toEqual(['fastest-levenshtein'])
})

test('a run in a pipeline loads nothing to draw with', () => {
  expect(reachable('src/cli/run/run-upgrade.ts').packages).toEqual(['picocolors'])
})

test('what is served and what is measured load their packages each for itself, and the list of metrics none', () => {
  expect(reachable('src/server/serve.ts').packages).toEqual(['@hono/node-server', 'hono'])
  expect(reachable('src/telemetry/create-metrics.ts').packages).toEqual(['prom-client'])
  expect(reachable('src/telemetry/metric-list.ts').packages).toEqual([])
})

test('no command loads them before it serves', () => {
  const heavy = /^(hono|@hono\/|prom-client)/
  const entries = ['src/cli/main.ts', 'src/cli/world.ts', 'src/index.ts', 'src/cli/actions/observe-action.ts']
  for (const { files, packages } of entries.map((entry) => reachable(entry))) {
    expect(packages.filter((name) => heavy.test(name))).toEqual([])
    // The errors for a mistyped address.
    const light = new Set(['src/server/listen-address.ts', 'src/server/server-error.ts'])
    expect(files.filter((file) => file.startsWith('src/server/') && !light.has(file))).toEqual([])
  }
  expect(
    reachable('src/cli/actions/observe-action.ts', (file) => [...staticImports(file), ...lazyImports(file)]).packages,
  ).toEqual(expect.arrayContaining(['hono', 'prom-client', 'log-update']))
})

test('control: the walk finds what is there', () => {
  expect(reachable('src/cli/output/live-table.ts').packages).toEqual(expect.arrayContaining(['log-update', 'string-width']))
  expect(reachable('src/cli/world.ts').packages).toEqual(expect.arrayContaining(['zod', 'yaml']))
})

test('there is no top-level await: a single executable could not have it', () => {
  const { files } = reachable('src/cli/sluice.ts', (file) => [...staticImports(file), ...lazyImports(file)])
  expect(files).toEqual(expect.arrayContaining(['src/engine/run.ts', 'src/kube/connect.ts', 'adapters/haproxy/index.ts']))
  expect(files.filter((file) => hasTopLevelAwait(readFileSync(join(ROOT, file), 'utf8')))).toEqual([])
})

test.each([
  ['export const x = await y', true],
  ['for await (const x of y) {}\nexport {}', true],
  ['async function f() { await y }', false],
  ['const f = async () => { for await (const x of y) {} }', false],
])('control: %s', (source, expected) => {
  expect(hasTopLevelAwait(source)).toBe(expected)
})
