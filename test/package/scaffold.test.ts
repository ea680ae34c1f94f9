import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LanguageName, languageNames, languages } from '../../adapters/scaffold/languages.ts'
import { startRecordedServers } from '../../src/cli/adapter-test/testing/recorded-servers.ts'
import { PORT, startProductBed } from '../embedded/product-bed.ts'
import { copyDependencies, pack } from './installed.ts'

/* Plugins from `sluice adapter new`, outside of the repository, with the tarball of `npm pack`. */

let folder: string
let tarball: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-plugins-'))
  pack(folder)
  tarball = join(folder, 'package.tgz')
  await succeed('npm', ['init', '--yes'], join(folder, made('project')))
  await install(join(folder, 'project'))
}, 180_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function made(name: string): string {
  mkdirSync(join(folder, name), { recursive: true })
  return name
}

async function install(where: string): Promise<void> {
  copyDependencies(where)
  await succeed('npm', ['install', '--offline', '--no-audit', '--no-fund', '--ignore-scripts', tarball], where)
}

async function run(command: string, args: readonly string[], cwd: string) {
  const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter)
  const child = spawn(command, args, { cwd, env: { PATH, HOME: process.env['HOME'] } })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}

async function succeed(command: string, args: readonly string[], cwd: string): Promise<string> {
  const { code, stdout, stderr } = await run(command, args, cwd)
  if (code !== 0) throw new Error(`${command} ${args.join(' ')}: ${stdout}${stderr}`)
  return stdout
}

const sluice = (args: readonly string[], cwd: string) => run('npx', ['--no', 'sluice', ...args], cwd)

/** The call by which each plugin drains, and nothing in its place. */
const DRAINS: Record<LanguageName, [call: string, nothing: string]> = {
  ts: ["await api('PUT', down(entry!.name), call.signal)", ''],
  js: ["await api('PUT', down(entry.name), call.signal)", ''],
  python: ['def drain(request, entry):\n    api(request, "PUT", down(entry))', 'def drain(request, entry):\n    pass'],
  sh: ['  api PUT "/servers/$1/down"\n}', '  :\n}'],
}

describe.each(languageNames)('in %s', (language) => {
  test('a new plugin passes the kit, and one that does not drain is caught', async () => {
    const project = join(folder, 'project')
    const { code, stderr } = await sluice(['adapter', 'new', language, '--language', language], project)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const own = join(project, language)
    // Where it has a package.json, README.md says so.
    if (language === 'ts' || language === 'js') await install(own)
    const beganAt = performance.now()
    const right = await sluice(['adapter', 'test', '--bed', './bed.mjs'], own)
    console.log(`${language}: the kit took ${((performance.now() - beganAt) / 1000).toFixed(1)} s`)
    expect({ code: right.code, stderr: right.stderr }, right.stdout).toEqual({ code: 0, stderr: '' })
    expect(right.stdout).toMatch(/\n\nGuarantee: G1\.\n21 promises: 16 hold, 0 fail, 5 not applicable\n$/)

    const file = join(own, languages[language].plugin)
    const text = readFileSync(file, 'utf8')
    const [call, nothing] = DRAINS[language]
    expect(text.split(call)).toHaveLength(2)
    writeFileSync(file, text.replace(call, nothing))
    const wrong = await sluice(['adapter', 'test', '--bed', './bed.mjs'], own)
    expect(wrong.code).toBe(1)
    expect(wrong.stdout).toMatch(/^ 1 {2}FAILS {11}after a drain .*\n +no-new-requests: /m)
  }, 240_000)
})

test('a package is the adapter of an upgrade: each pod is drained once and put back once', async () => {
  const bed = await startProductBed({ web: 2 })
  const pods = bed.pods().map(({ metadata: { name }, status }) => ({ name, address: status!.podIP!, port: PORT }))
  const servers = await startRecordedServers(pods)
  try {
    const own = join(folder, 'project')
    const plugin = join(own, 'node_modules/@acme/lb')
    mkdirSync(plugin, { recursive: true })
    cpSync(join(own, 'node_modules/sluice/adapters/scaffold/templates/js/lb.mjs'), join(plugin, 'index.mjs'))
    writeFileSync(join(plugin, 'package.json'), JSON.stringify({ name: '@acme/lb', version: '1.0.0', exports: './index.mjs' }))
    const loadBalancers = [{ name: 'edge', adapter: 'npm:@acme/lb', port: PORT, options: { url: servers.url } }]
    writeFileSync(join(own, 'sluice.yaml'), JSON.stringify({ apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers }))
    const image = bed.nextImage()
    const args = ['upgrade', 'statefulset/web', `app=${image}`, '--kubeconfig', join(bed.folder, 'kubeconfig')]
    const { code, stdout, stderr } = await sluice(args, own)
    expect(code, stdout + stderr).toBe(0)
    expect(servers.writes).toEqual(['PUT web-1', 'DELETE web-1', 'PUT web-0', 'DELETE web-0'])
    expect(bed.images()).toEqual([image, image])
    // An error of the package's copy of sluice is known by its kind, and named.
    servers.close()
    const refused = await sluice(['plan', 'statefulset/web', `app=${bed.nextImage()}`, ...args.slice(3)], own)
    expect(refused.code).toBe(3)
    expect(refused.stdout + refused.stderr).toMatch(/lb edge: .*ECONNREFUSED/)
  } finally {
    servers.close()
    await bed.stop()
  }
}, 240_000)
