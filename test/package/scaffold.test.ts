import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../demo/processes/free-port.ts'
import { type LanguageName, languageNames, languages } from '../../adapters/scaffold/languages.ts'
import { startRecordedServers } from '../../src/cli/adapter-test/testing/recorded-servers.ts'
import { blocks, page, type Page } from '../docs/pages.ts'
import { PORT, startProductBed } from '../embedded/product-bed.ts'
import { copyDependencies, pack } from './installed.ts'

/* The commands of docs/write-a-plugin.md, outside of the repository, with the tarball of `npm pack`. */

let folder: string
let tarball: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-plugins-'))
  pack(folder)
  tarball = join(folder, 'package.tgz')
  // An `npm install` finds them in place, and asks no registry.
  copyDependencies(folder)
}, 180_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function run(command: string, args: readonly string[], cwd: string) {
  const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter)
  // In a process group of its own: a command may leave a process in the background.
  const child = spawn(command, args, { cwd, env: { PATH, HOME: process.env['HOME'] }, detached: true })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}

const HEADINGS: Record<LanguageName, string> = { ts: 'In TypeScript', js: 'In JavaScript', python: 'In Python', sh: 'In sh' }

const tutorial = page('docs/write-a-plugin.md')

/** The part of the page under a heading; the part before the first one has none. */
function section(heading?: string): Page {
  const parts = tutorial.text.split(/^## /m)
  const found = heading === undefined ? parts[0] : parts.find((part) => part.startsWith(`${heading}\n`))
  if (found === undefined) throw new Error(`${tutorial.file} has no part ${heading}`)
  return { file: tutorial.file, text: found }
}

function codeIn(part: Page, language: string): string[] {
  return blocks(part).flatMap((block) => (block.language === language ? [block.code] : []))
}

/** All commands that a reader types who chooses this language, in order. */
function commandsFor(language: LanguageName): string[] {
  const parts = [section(), section(HEADINGS[language]), section('What the test says'), section('On your own load balancer')]
  return parts.flatMap((part) => codeIn(part, 'sh')).flatMap((code) => code.trimEnd().split('\n'))
}

const INSTALL = 'cp -r "$dependencies" node_modules && npm install --offline --no-audit --no-fund --ignore-scripts "$tarball"'

/** With the tarball in the place of the registry, and ports that are free. */
async function scriptOf(commands: readonly string[]): Promise<string> {
  const [api, requests] = [await freePort(), await freePort()]
  const lines = commands.map((command) => {
    if (/^npm install(?: sluice)?$/.test(command)) return INSTALL
    const line = command.replace('9100', String(api)).replace('9101', String(requests))
    if (line.startsWith('cd ')) return `${line} && sed -i 's/:9100/:${api}/' sluice.yaml`
    if (line.includes('--bed')) return `SECONDS=0; ${line}; echo "the kit took $SECONDS s"`
    return line.endsWith('&') ? `${line}\nuntil curl -sf http://127.0.0.1:${api}/servers >/dev/null; do sleep 0.1; done` : line
  })
  return ['set -eu', `trap 'kill $(jobs -p) 2>/dev/null || true' EXIT`, ...lines, ''].join('\n')
}

/** The call by which each plugin drains, and nothing in its place. */
const DRAINS: Record<LanguageName, [call: string, nothing: string]> = {
  ts: ["await api('PUT', down(entry!.name), call.signal)", ''],
  js: ["await api('PUT', down(entry.name), call.signal)", ''],
  python: ['def drain(request, entry):\n    api(request, "PUT", down(entry))', 'def drain(request, entry):\n    pass'],
  sh: ['  api PUT "/servers/$1/down"\n}', '  :\n}'],
}

describe.each(languageNames)('in %s', (language) => {
  test('each command of the tutorial does what it says, and a plugin that does not drain is caught', async () => {
    const commands = commandsFor(language)
    expect(commands).toContain('npx sluice adapter test --bed ./bed.mjs')
    expect(commands.length).toBeGreaterThan(6)
    const own = join(folder, `tutorial-${language}`)
    mkdirSync(own)
    const script = `dependencies="${folder}/node_modules" tarball="${tarball}"\n${await scriptOf(commands)}`
    const { code, stdout, stderr } = await run('bash', ['-c', script], own)
    expect(code, stdout + stderr).toBe(0)
    for (const text of codeIn(section('What the test says'), 'text')) expect(stdout).toContain(`\n\n${text}`)
    expect(stdout.match(/^21 promises: \d+ hold, 0 fail, \d+ not applicable$/gm)).toEqual([
      '21 promises: 16 hold, 0 fail, 5 not applicable',
      '21 promises: 3 hold, 0 fail, 18 not applicable',
      '21 promises: 5 hold, 0 fail, 16 not applicable',
    ])
    console.log(`${language}: ${/the kit took \d+ s/.exec(stdout)?.[0]}`)

    const file = join(own, 'my-lb', languages[language].plugin)
    const text = readFileSync(file, 'utf8')
    const [call, nothing] = DRAINS[language]
    expect(text.split(call)).toHaveLength(2)
    writeFileSync(file, text.replace(call, nothing))
    const wrong = await run('npx', ['--no', 'sluice', 'adapter', 'test', '--bed', './bed.mjs'], join(own, 'my-lb'))
    expect(wrong.code).toBe(1)
    const said = blocks(section('What the test says')).find(({ code: block }) => block.includes('FAILS'))!.code
    expect(wrong.stdout).toContain(said)
  }, 240_000)

  test('the code that the tutorial shows is that of the plugin', () => {
    const text = readFileSync(
      join(import.meta.dirname, '../../adapters/scaffold/templates', language, languages[language].plugin),
      'utf8',
    )
    const shown = codeIn(section(HEADINGS[language]), language === 'sh' ? 'bash' : language)
    expect(shown.length).toBeGreaterThan(1)
    for (const code of shown) expect(text).toContain(code)
  })
})

test('a package is the adapter of an upgrade: each pod is drained once and put back once', async () => {
  const bed = await startProductBed({ web: 2 })
  const pods = bed.pods().map(({ metadata: { name }, status }) => ({ name, address: status!.podIP!, port: PORT }))
  const servers = await startRecordedServers(pods)
  const own = join(folder, 'package')
  const sluice = (args: readonly string[]) => run('npx', ['--no', 'sluice', ...args], own)
  try {
    mkdirSync(own)
    cpSync(join(folder, 'node_modules'), join(own, 'node_modules'), { recursive: true })
    const installed = await run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--ignore-scripts', tarball], own)
    expect(installed.code, installed.stderr).toBe(0)
    const plugin = join(own, 'node_modules/@acme/lb')
    mkdirSync(plugin, { recursive: true })
    cpSync(join(own, 'node_modules/sluice/adapters/scaffold/templates/js/lb.mjs'), join(plugin, 'index.mjs'))
    writeFileSync(join(plugin, 'package.json'), JSON.stringify({ name: '@acme/lb', version: '1.0.0', exports: './index.mjs' }))
    const loadBalancers = [{ name: 'edge', adapter: 'npm:@acme/lb', port: PORT, options: { url: servers.url } }]
    writeFileSync(join(own, 'sluice.yaml'), JSON.stringify({ apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers }))
    const image = bed.nextImage()
    const where = ['--kubeconfig', join(bed.folder, 'kubeconfig')]
    const { code, stdout, stderr } = await sluice(['upgrade', 'statefulset/web', `app=${image}`, ...where])
    expect(code, stdout + stderr).toBe(0)
    expect(servers.writes).toEqual(['PUT web-1', 'DELETE web-1', 'PUT web-0', 'DELETE web-0'])
    expect(bed.images()).toEqual([image, image])
    // An error of the package's copy of sluice is known by its kind, and named.
    servers.close()
    const refused = await sluice(['plan', 'statefulset/web', `app=${bed.nextImage()}`, ...where])
    expect(refused.code).toBe(3)
    expect(refused.stdout + refused.stderr).toMatch(/lb edge: .*ECONNREFUSED/)
  } finally {
    servers.close()
    await bed.stop()
  }
}, 240_000)
