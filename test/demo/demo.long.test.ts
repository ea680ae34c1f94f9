import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, type TestContext } from 'vitest'
import { whyNoHaproxy } from '../../adapters/conformance/beds/haproxy-process.ts'
import { ROOT, type RunningDemo, startDemo, whyNotCounted } from './running-demo.ts'

/** A folder that has nothing but node, npm and sh. */
let bin: string
beforeAll(() => {
  bin = mkdtempSync(join(tmpdir(), 'demo-path-'))
  symlinkSync(process.execPath, join(bin, 'node'))
  for (const name of ['npm', 'sh']) symlinkSync(realpathSync(find(name)!), join(bin, name))
})
afterAll(() => rmSync(bin, { recursive: true }))

/** Ends with the test that has started it, also where that fails. */
function start({ onTestFinished }: TestContext, ...of: Parameters<typeof startDemo>): RunningDemo {
  const demo = startDemo(...of)
  onTestFinished(() => demo.remove())
  return demo
}

function find(program: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(':').filter((folder) => !folder.endsWith('node_modules/.bin'))
  return [...folders, '/usr/sbin', '/sbin'].map((folder) => join(folder, program)).find((file) => existsSync(file))
}

/** A network that has nothing but loopback: a namespace of its own, which only root may make. */
function whyNoNamespace(): string | undefined {
  const [unshare, ip] = [find('unshare'), find('ip')]
  if (unshare === undefined || ip === undefined) return 'unshare and ip are not installed'
  return spawnSync(unshare, ['--net', 'true']).status === 0 ? undefined : 'network namespaces need root'
}

/** The acts as the table at the end shows them. */
function table(output: string): { failed: number; requests: number; pods: string[]; flips: number }[] {
  return [...output.matchAll(/^[123]  .*? ([\d,]+) of ([\d,]+)((?: +\d+\/\d+)+) +(\d+) +[\d.]+$/gm)].map(
    ([, failed, requests, pods, flips]) => ({
      failed: numberOf(failed!),
      requests: numberOf(requests!),
      pods: pods!.trim().split(/ +/),
      flips: Number(flips),
    }),
  )
}

function numberOf(text: string): number {
  return Number(text.replaceAll(',', ''))
}

/** What a newcomer is to see, whatever the load balancer is. */
function expectThreeActs(demo: RunningDemo): void {
  const [first, second, third, ...more] = table(demo.output())
  expect(more).toEqual([])
  expect(first!.failed).toBeGreaterThan(0)
  expect(first!.pods).toEqual(['0/0', '0/0', '0/0'])
  expect(second!.failed).toBeGreaterThan(0)
  expect(third).toMatchObject({ failed: 0, pods: ['1/1', '1/1', '1/1'], flips: 0 })
  expect(third!.requests).toBeGreaterThan(100)
  const [, report = ''] = /^Where to look next:\n {2}(.*)$/m.exec(demo.output()) ?? []
  expect(readFileSync(report, 'utf8')).toMatch(/<!doctype html>[\s\S]*web-2/i)
  expect(demo.output()).toContain('sluice: no request failed; one drain and one restore for each pod.')
  // oxlint-disable-next-line no-control-regex -- there is no terminal
  expect(demo.output()).not.toMatch(/\u001b/)
  expect(whyNotCounted === undefined ? demo.processes() : []).toEqual([])
}

const noNamespace = whyNoNamespace()
const noHaproxy = whyNoHaproxy() ?? (process.platform === 'linux' ? undefined : 'pods need an address each')
const because = (reason: string | undefined): string => (reason === undefined ? '' : `: ${reason}`)

describe('npm run demo', () => {
  test('three acts, with nothing but node, npm and sh', async (context) => {
    const isolated = ['--net', 'sh', '-c', `${find('ip')} link set lo up && PATH=${bin} exec npm run demo`]
    const command = noNamespace === undefined ? ([find('unshare')!, ...isolated] as const) : (['npm', 'run', 'demo'] as const)
    const demo = start(context, command, noNamespace === undefined ? {} : { PATH: bin })
    expect(await demo.exit, demo.output()).toBe(0)
    expectThreeActs(demo)
  })

  // oxlint-disable-next-line vitest/expect-expect -- it says what the one above has not shown here
  test.skipIf(noNamespace === undefined)(`the same without any network${because(noNamespace)}`, () => {})

  test.skipIf(noHaproxy !== undefined)(`three acts behind HAProxy${because(noHaproxy)}`, async (context) => {
    const demo = start(context, ['npm', 'run', 'demo', '--', '--load-balancer', 'haproxy'])
    expect(await demo.exit, demo.output()).toBe(0)
    expectThreeActs(demo)
  })

  test('a load balancer that is not installed is told, with the way out', async (context) => {
    const demo = start(context, ['npm', 'run', 'demo', '--', '--load-balancer', 'haproxy'], { PATH: bin })
    expect(await demo.exit).toBe(3)
    expect(demo.output()).toMatch(/error: .*haproxy.*leave --load-balancer away/)
    expect(demo.files()).toEqual([])
  })
})

const describeCounted = whyNotCounted === undefined ? describe.concurrent : describe.skip

/** A package as npm would see it. */
let built: string
beforeAll(() => {
  built = mkdtempSync(join(tmpdir(), 'demo-built-'))
  copyFileSync(join(ROOT, 'package.json'), join(built, 'package.json'))
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts/build.ts'), join(built, 'dist')], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(stderr)
}, 300_000)
afterAll(() => rmSync(built, { recursive: true }))

describeCounted(`no process is left${because(whyNotCounted)}`, () => {
  // The text that is awaited, and how many processes there are then at least: npm, the demo, and what it has started.
  test.for([
    ['at once', '', 1],
    ['while the pods start', 'Starting', 2],
    ['in act 1', 'Act 1', 7],
    ['in act 2', 'web-2 drained', 7],
    ['as sluice starts', 'Act 3', 7],
    ['while sluice upgrades', 'web-1 restarting', 8],
  ] as const)('after Ctrl-C %s', async ([, text, least], context) => {
    const demo = start(context, ['npm', 'run', 'demo'])
    await demo.sees(text)
    expect(demo.processes().length).toBeGreaterThanOrEqual(least)
    demo.signal('SIGINT')
    expect(await demo.exit).not.toBe(0)
    expect(demo.processes()).toEqual([])
    expect(demo.files()).toEqual([])
  })

  test('after Ctrl-C of the package as it is built', async (context) => {
    const demo = start(context, [process.execPath, join(built, 'dist/cli/sluice.js'), 'demo'])
    await demo.sees('web-1 restarting')
    expect(demo.processes().length).toBeGreaterThanOrEqual(7)
    demo.signal('SIGINT')
    expect(await demo.exit).toBe(130)
    expect(demo.processes()).toEqual([])
  })

  test('where the demo itself is killed', async (context) => {
    const demo = start(context, [process.execPath, 'src/cli/sluice.ts', 'demo'])
    await demo.sees('Act 1')
    expect(demo.processes().length).toBeGreaterThanOrEqual(5)
    demo.process.kill('SIGKILL')
    await context.expect.poll(() => demo.processes(), { timeout: 20_000 }).toEqual([])
  })
})
