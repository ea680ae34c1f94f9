import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { writeScaffold } from '../../../adapters/scaffold/write-scaffold.ts'
import type { AdapterTestReport } from '../output/adapter-test-view.ts'
import { type Child, startChild } from '../testing/child.ts'
import { type RecordedServers, startRecordedServers } from './testing/recorded-servers.ts'

vi.setConfig({ testTimeout: 60_000 })

const ROOT = join(import.meta.dirname, '../../..')

let folder: string
let servers: RecordedServers
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-adapter-test-'))
  servers = await startRecordedServers(
    [0, 1, 2].map((index) => ({ name: `web-${index}`, address: `10.0.0.${index + 1}`, port: 80 })),
  )
  await writeScaffold(folder, 'js')
  // The imports are resolved as in a folder where the package is installed.
  change('lb.mjs', "'sluice/adapter'", JSON.stringify(pathToFileURL(join(ROOT, 'adapters/index.ts')).href))
  change('lb.mjs', "'zod'", JSON.stringify(import.meta.resolve('zod')))
  change('sluice.yaml', 'http://127.0.0.1:9100', servers.url)
})
afterEach(() => {
  servers.close()
  rmSync(folder, { recursive: true })
})

function change(file: string, from: string, to: string): void {
  const text = readFileSync(join(folder, file), 'utf8')
  expect(text).toContain(from)
  writeFileSync(join(folder, file), text.replace(from, to))
}

function start(...args: string[]): Child {
  return startChild([join(ROOT, 'src/cli/sluice.ts'), 'adapter', 'test', ...args], { cwd: folder })
}

async function run(...args: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const child = start(...args)
  return { code: await child.end(), stdout: child.stdout(), stderr: child.stderr() }
}

async function report(...args: string[]): Promise<AdapterTestReport & { code: unknown }> {
  const { code, stdout } = await run(...args, '-o', 'json')
  return { code, ...(JSON.parse(stdout) as AdapterTestReport) }
}

function outcomes({ promises }: AdapterTestReport, outcome: string): number[] {
  return promises.filter((one) => one.outcome === outcome).map(({ number }) => number)
}

describe('on a bed', () => {
  test('a right plugin keeps all promises that the load balancer has a place for', async () => {
    const { code, stdout, stderr } = await run('--bed', './bed.mjs')
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' })
    expect(stdout.match(/^ ?\d+ {2}/gm)).toHaveLength(21)
    expect(stdout).toMatch(/^ 1 {2}holds {11}after a drain and its settle time no new request arrives$/m)
    expect(stdout).toMatch(/^ {20}not tried: batch: needs capabilities\.maxBatch above 1$/m)
    expect(stdout).toMatch(/\n\nGuarantee: G1\.\n21 promises: 16 hold, 0 fail, 5 not applicable\n$/)
    // The test has not changed the load balancer of the config.
    expect(servers.writes).toEqual([])
  })

  test.each([
    ['drains nothing', "await api('PUT', down(entry.name), call.signal)", '', [1, 3, 10], 'no-new-requests'],
    [
      'tries again by itself',
      'down(entry.name), call.signal)',
      'down(entry.name)).catch(() => api("PUT", down(entry.name)))',
      [7, 8],
      'request-lost',
    ],
    ['counts nothing that is under way', 'inFlight: requests', 'inFlight: 0', [4, 20], 'in-flight'],
  ])('a plugin that %s breaks its promises', async (_, from, to, broken, caught) => {
    change('lb.mjs', from, to)
    const tested = await report('--bed', './bed.mjs')
    expect(tested.code).toBe(1)
    expect(outcomes(tested, 'fails')).toEqual(expect.arrayContaining(broken))
    const failed = tested.promises.flatMap(({ cases }) => cases.filter(({ outcome }) => outcome === 'failed'))
    expect(failed).toContainEqual(expect.objectContaining({ case: caught, message: expect.stringMatching(/./) as string }))
    expect(tested.guarantee).toEqual({ claimed: 'G1', shown: null })
    expect(tested.counts.fails).toBe(outcomes(tested, 'fails').length)
  })

  test('a plugin that gives no list is told before any case', async () => {
    change('lb.mjs', "'/servers', signal", "'/nowhere', signal")
    const { code, stdout, stderr } = await run('--bed', './bed.mjs')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('error: the load balancer cannot be read: lb edge: GET /nowhere: 404')
  })

  test.each([
    ['cannot be found', './none.mjs', '', '--bed ./none.mjs cannot be loaded: '],
    ['exports nothing', './own.mjs', 'export const start = 1', '--bed ./own.mjs: its default export is no function'],
    ['does not start', './own.mjs', "export default () => { throw new Error('port taken') }", 'it does not start: port taken'],
    [
      'starts something else',
      './own.mjs',
      "export default () => ({ apiUrl: '' })",
      'has no requestUrl, state, drain, ready, close',
    ],
  ])('a bed that %s is a mistake of the command line', async (_, file, text, message) => {
    if (text !== '') writeFileSync(join(folder, file), text)
    const { code, stdout, stderr } = await run('--bed', file)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
    expect(stderr).toContain('Run "sluice adapter test --help" for its usage.')
  })
})

describe('on a load balancer that runs', () => {
  test('without an expendable server nothing is changed', async () => {
    const tested = await report('--target', '10.0.0.1:80', '--target', '10.0.0.2:80')
    expect(tested).toMatchObject({ code: 0, on: 'live', guarantee: { claimed: 'G1', shown: null }, left: [] })
    expect(outcomes(tested, 'holds')).toEqual([3, 14, 16])
    expect(servers.writes).toEqual([])
  })

  test('no server is drained but the expendable ones, each by turns, and all are put back', async () => {
    const expendable = ['--expendable', '10.0.0.2:80', '--expendable', '10.0.0.3:80']
    const tested = await report('--target', '10.0.0.1:80', ...expendable, '--break-connections')
    expect(tested).toMatchObject({ code: 0, counts: { fails: 0 }, guarantee: { claimed: 'G1', shown: 'G1' }, left: [] })
    expect(outcomes(tested, 'holds')).toEqual([2, 3, 7, 8, 12, 14, 15, 16, 18, 21])
    expect(new Set(servers.writes.map((write) => write.split(' ')[1]))).toEqual(new Set(['web-1', 'web-2']))
    expect(servers.down.size).toBe(0)
  })

  test('without --break-connections no connection is broken', async () => {
    const tested = await report('--target', '10.0.0.1:80', '--expendable', '10.0.0.2:80')
    expect(tested).toMatchObject({ code: 0, counts: { fails: 0 } })
    expect(outcomes(tested, 'holds')).toEqual([2, 3, 12, 14, 16])
    expect(tested.promises[6]!.cases).toContainEqual(expect.objectContaining({ case: 'reply-lost', lacks: 'wire' }))
  })

  test('a plugin that leaves a server drained fails, and the server is put back', async () => {
    let restores = 0
    // Every second restore is accepted and not carried out.
    servers.onWrite = (write) => !write.startsWith('DELETE') || restores++ % 2 === 1
    const { code, stdout } = await run('--target', '10.0.0.1:80', '--expendable', '10.0.0.2:80')
    expect(code).toBe(1)
    expect(stdout).toContain('FAILS')
    expect(servers.down.size).toBe(0)
  })

  test('Ctrl-C ends the call under way, and puts back what is drained', async () => {
    const child = start('--expendable', '10.0.0.2:80')
    servers.onWrite = async (write) => {
      if (write !== 'PUT web-1' || servers.writes.length > 1) return true
      child.process.kill('SIGINT')
      await child.sees('SIGINT: ends the call under way, and puts back what is drained')
      return true
    }
    expect(await child.end()).toBe(130)
    expect(servers.writes).toEqual(['PUT web-1', 'DELETE web-1'])
    expect(servers.down.size).toBe(0)
    expect(child.stdout()).not.toContain('FAILS')
  })

  test('a server that cannot be put back is named, with what it was', async () => {
    change('lb.mjs', 'throw new Error(', "throw new AdapterError('lb', 'fatal', ")
    change('lb.mjs', '{ defineAdapter }', '{ AdapterError, defineAdapter }')
    servers.onWrite = (write) => !write.startsWith('DELETE')
    const { code, stderr } = await run('--target', '10.0.0.1:80', '--expendable', '10.0.0.2:80')
    expect(code).toBe(8)
    expect(stderr).toContain('error: 10.0.0.2:80 is not as it was: lb: DELETE /servers/web-1/down: 403 no right to do this\n')
    expect(stderr).toContain('  put it back at the load balancer: web-1@10.0.0.2:80: {"state":"in","prior":null}\n')
    expect([...servers.down]).toEqual(['web-1'])
  })

  test('a server that is not there, or not in rotation, is refused before anything is changed', async () => {
    expect(await run('--target', '10.0.0.9:80')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('10.0.0.9:80 is not behind this load balancer: none of the 3 entries has') as string,
    })
    servers.down.add('web-1')
    expect(await run('--expendable', '10.0.0.2:80')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('10.0.0.2:80 is not in rotation: a drain of it would show nothing') as string,
    })
    expect(servers.writes).toEqual([])
  })

  test.each([
    [['--bed', './bed.mjs', '--expendable', '10.0.0.1:80'], '--bed starts a load balancer for the test'],
    [['--break-connections'], 'name with --expendable what may be drained'],
    [['--expendable', 'web-0'], '--expendable: "web-0" is no ADDRESS:PORT'],
    [['--load-balancer', 'egde'], 'sluice.yaml has no load balancer "egde"; it has: edge'],
    [
      ['--expendable', '10.0.0.1:80'],
      'edge has a lock, which the test does not take: see that nobody else writes pool meanwhile',
    ],
  ])('%j is refused', async (args, message) => {
    if (message.includes('lock')) change('sluice.yaml', 'port:', 'lock: {namespace: release, key: pool}\n    port:')
    expect(await run(...args)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) as string })
  })
})
