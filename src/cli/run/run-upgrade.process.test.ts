import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Report } from '../../report/report.ts'
import type { RunReport } from '../output/run-report.ts'
import { startChild, type Child } from '../testing/child.ts'

const SCRIPT = join(import.meta.dirname, '../testing/fake-upgrade.ts')
const RESUME = `To go on from here:\n  kubectl sluice upgrade sts/web 'app=it'\\''s:v2' -n shop\n`
const LIFT = 'To lift the pause:\n  kubectl sluice resume statefulset/web --namespace shop\n'
const ONCE_LIFTED = RESUME.replace('here:', 'here, once the pause is lifted:')
const AFTER_PAUSE = `${LIFT}\n${ONCE_LIFTED}`
const AFTER_CONFLICT = 'To go on from here, once you have looked at what somebody else has changed (of a template, '
const AT_WORK = 'web-1 draining: waits for edge'

function start(...args: string[]): Child {
  const child = startChild([SCRIPT, ...args])
  onTestFinished(() => void child.process.kill('SIGKILL'))
  return child
}

describe('a run that is left alone', () => {
  test.each([
    ['done', 0],
    ['operator', 8],
    ['forbidden', 1],
    ['refused', 3],
    ['paused', 5],
    ['aborted', 6],
  ])('%s exits with %i', async (scenario, code) => {
    expect(await start(scenario).end()).toBe(code)
  })
})

test('a run in which a pod has failed says how to take it back', async () => {
  const child = start('failed')
  expect(await child.end()).toBe(1)
  expect(child.stdout()).toContain(
    'To take it back:\n  kubectl sluice undo statefulset/web --run r7 --namespace shop\n\nTo try the same again, once',
  )
})

describe('a run that somebody has given an order', () => {
  test('to pause: says who, and how to go on', async () => {
    const child = start('paused')
    await child.end()
    expect(child.stdout()).toContain('paused by ann@desk: no new pod is started; pods that are under way come home\n')
    expect(child.stdout()).toContain('paused by ann@desk: nothing is under way any more\n')
    expect(child.stdout()).toContain(AFTER_PAUSE)
  })

  test('to pause, and then an interrupt: the command to go on with waits for the end of the pause', async () => {
    const child = start('resting', '-o', 'json')
    await child.sees('nothing is under way any more')
    child.process.kill('SIGINT')
    expect(await child.end()).toBe(130)
    expect(child.stderr()).toContain(AFTER_PAUSE)
    expect(JSON.parse(child.stdout())).toMatchObject({ outcome: 'interrupted', pausedBy: 'ann@desk' })
  })

  test('to pause, and then two interrupts: the same', async () => {
    const child = start('frozen')
    await child.sees('paused by ann@desk')
    child.process.kill('SIGINT')
    await child.sees('SIGINT: stopping in order')
    child.process.kill('SIGTERM')
    await child.end()
    expect(child.stderr()).toContain(`SIGTERM again: stopped at once. ${LIFT}${ONCE_LIFTED}`)
  })

  test('to pause and to resume, and then an interrupt: the command goes on', async () => {
    const child = start('resumed')
    await child.sees('the pause is lifted')
    child.process.kill('SIGINT')
    await child.end()
    expect(child.stdout()).toContain(RESUME)
  })

  test('to abort: says who, and that there is nothing to go on with', async () => {
    const child = start('aborted')
    await child.end()
    expect(child.stdout()).toContain('abort ordered by ann@desk: no new pod is started; pods that are drained and not patched')
    expect(child.stdout()).toContain('Aborted: it was aborted')
    expect(child.stdout()).not.toContain('To go on')
  })

  // The run is over, so the printed commands follow the template, and do not continue the run.
  test('to abort, and a template is left as somebody has edited it: the run is over', async () => {
    const child = start('edited', '-o', 'json', 'aborts')
    expect(await child.end()).toBe(7)
    expect(child.stderr()).toContain(
      '\nThe run is over. Where the pods are to follow the template as it is now, and differ from it in images alone:\n  kubectl sluice upgrade statefulset/web --namespace shop\n',
    )
    expect(child.stderr()).not.toContain('To go on')
    const report = JSON.parse(child.stdout()) as RunReport
    expect(report).toMatchObject({
      next: [{ to: 'followTemplate', shell: 'kubectl sluice upgrade statefulset/web --namespace shop' }],
    })
  })

  test('to abort, and it ends in a conflict with something open: the same command goes on', async () => {
    const child = startChild([SCRIPT, 'edited'], { env: { OPEN: '1' } })
    expect(await child.end()).toBe(7)
    expect(child.stdout()).toContain(AFTER_CONFLICT)
    expect(child.stdout()).not.toContain('The run is over')
  })

  test('an abort that does it by itself has done what was wanted', async () => {
    expect(await start('aborted', '-o', 'json', 'aborts').end()).toBe(0)
    expect(await start('operator', '-o', 'json', 'aborts').end()).toBe(8)
  })
})

// An interrupted abort has words of its own.
test('an abort that is interrupted, once or twice: the order stands', async () => {
  const resume = RESUME.slice(RESUME.indexOf('\n'))
  const orderly = start('orderly', '-o', 'text', 'aborts')
  await orderly.sees(AT_WORK)
  orderly.process.kill('SIGINT')
  expect(await orderly.end()).toBe(130)
  expect(orderly.stdout()).toContain(`\nThe order to abort stands, as sluice status shows. To go on from here:${resume}`)
  const stuck = start('stuck', '-o', 'text', 'aborts')
  await stuck.sees(AT_WORK)
  stuck.process.kill('SIGINT')
  await stuck.sees('SIGINT: stopping in order')
  stuck.process.kill('SIGTERM')
  expect(await stuck.end()).toBe(130)
  expect(stuck.stderr()).toContain(
    `SIGTERM again: stopped at once. An order that was given stands, as sluice status shows. ${RESUME}`,
  )
})

test('a refused plan names the program that was called, with the code of a refusal', async () => {
  const child = start('refused')
  expect(await child.end()).toBe(3)
  expect(child.stdout()).toContain('  kubectl sluice resolve pod/web-1 -n shop --traffic out\n')
})

test('once an abort is ordered no code says that nothing was touched', async () => {
  const refused = start('refused', '-o', 'text', 'aborts')
  expect(await refused.end()).toBe(4)
  expect(refused.stderr()).toBe(
    `error: the plan is refused; nothing was touched\nAn order that was given stands, as sluice status shows. ${RESUME}`,
  )
  const laterRefused = start('late', '-o', 'json', 'aborts')
  expect(await laterRefused.end()).toBe(4)
  const report = JSON.parse(laterRefused.stdout()) as RunReport
  expect(report).toMatchObject({ outcome: 'refused', exitCode: 4, next: [{ to: 'goOn' }] })
  expect(await start('late').end()).toBe(3)
})

describe('a printed command reaches the cluster of the run', () => {
  const RESOLVE = 'kubectl sluice resolve --kubeconfig prod.conf pod/web-1 -n shop --traffic in'
  const GONE = RESOLVE.replace('--traffic', '--gone --traffic')
  const env = { KUBECONFIG: 'prod.conf' }

  test('in each event, in the report on stdout, and in the file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-report-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'report.json')
    const child = startChild([SCRIPT, 'operator', '-o', 'jsonl'], { env: { ...env, REPORT: file } })
    expect(await child.end()).toBe(8)
    const lines = child.stdout().trimEnd().split('\n')
    const told = lines.filter((line) => line.includes('--traffic'))
    expect(told.map((line) => (JSON.parse(line) as { type?: string; kind: string }).type)).toEqual([
      'podFinished',
      'finished',
      undefined,
    ])
    for (const text of [...told, readFileSync(file, 'utf8')]) {
      expect(text).toContain(GONE)
      expect(text.split('--traffic').length).toBe(text.split(GONE).length)
    }
  })

  test('in what says why it could not begin', async () => {
    const child = startChild([SCRIPT, 'renamed'], { env })
    expect(await child.end()).toBe(3)
    expect(child.stderr()).toMatch(/^error: pod\/web-1 is half done, /)
    expect(child.stderr().endsWith(` ${RESOLVE}\n`)).toBe(true)
  })

  test('in the command to go on with', async () => {
    const child = startChild([SCRIPT, 'forbidden'], { env })
    await child.end()
    expect(child.stderr()).toContain(RESUME.replace(/\n$/, ' --kubeconfig prod.conf\n'))
  })
})

describe('signals when the run has ended', () => {
  /** Starts a child whose limits never run out, so that only a signal ends it. */
  function startPatient(scenario: string, env: Record<string, string> = {}): Child {
    const child = startChild([SCRIPT, scenario, '-o', 'json'], { env: { ...env, PATIENT: '1' } })
    onTestFinished(() => void child.process.kill('SIGKILL'))
    return child
  }

  test.each([[['SIGINT']], [['SIGINT', 'SIGTERM']]] as const)('%s: cut short what is still closing', async (signals) => {
    const child = startPatient('lingering')
    await child.sees('"exitCode": 0')
    for (const signal of signals) child.process.kill(signal)
    expect(await child.end()).toBe(0)
    expect(child.stderr()).not.toMatch(/stop|go on/)
  })

  test('do not wait for a cluster that is asked whether anything is open', async () => {
    const child = startPatient('edited', { OPEN: 'unknown' })
    await child.sees('web-1 unchanged')
    child.process.kill('SIGTERM')
    expect(await child.end()).toBe(7)
    expect(JSON.parse(child.stdout())).toMatchObject({ outcome: 'conflict', exitCode: 7 })
    expect(child.stderr()).toContain(AFTER_CONFLICT)
    expect(child.stderr()).not.toContain('stop')
  })

  test('end a process whose output nobody takes, with the code of the run', async () => {
    const child = start('told')
    child.process.stdout!.pause()
    await child.sees('all is told')
    child.process.kill('SIGINT')
    while (!child.isOver()) await sleep(20)
    child.process.stdout!.resume()
    expect(await child.end()).toBe(0)
    expect(child.stderr()).toBe('all is told\n')
  })
})

describe('the report of a run', () => {
  let folder = ''
  let html = ''
  let json = ''
  const read = (): Report => JSON.parse(readFileSync(json, 'utf8')) as Report
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-report-'))
    html = join(folder, 'report.html')
    json = join(folder, 'report.json')
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  function reporting(...args: string[]): Child {
    const child = startChild([SCRIPT, ...args], { env: { REPORT: `${html}:${json}` } })
    onTestFinished(() => void child.process.kill('SIGKILL'))
    return child
  }

  test.each([
    ['done', 0, 'done'],
    ['operator', 8, 'needsOperator'],
    ['aborted', 6, 'aborted'],
    ['forbidden', 1, 'failed'],
  ])('is written however the run ends: %s', async (scenario, code, outcome) => {
    expect(await reporting(scenario).end()).toBe(code)
    expect(read()).toMatchObject({ apiVersion: 'sluice.dev/v1', kind: 'Report', run: 'r7', outcome })
    expect(read().pods.map(({ pod }) => pod)).toEqual(['web-1', 'web-0'])
    expect(readFileSync(html, 'utf8')).toMatch(/^<!doctype html>/)
    expect(readdirSync(folder).toSorted()).toEqual(['report.html', 'report.json'])
  })

  test('is not written where nothing was done', async () => {
    expect(await reporting('refused').end()).toBe(3)
    expect(readdirSync(folder)).toEqual([])
  })

  test('is written after an interrupt, and after a second one as far as it is known', async () => {
    const orderly = reporting('orderly')
    await orderly.sees(AT_WORK)
    orderly.process.kill('SIGINT')
    expect(await orderly.end()).toBe(130)
    expect(read()).toMatchObject({ outcome: 'interrupted', reason: { message: 'it was interrupted' } })
    rmSync(json)

    const stuck = reporting('stuck')
    await stuck.sees(AT_WORK)
    stuck.process.kill('SIGINT')
    await stuck.sees('SIGINT: stopping in order')
    stuck.process.kill('SIGTERM')
    expect(await stuck.end()).toBe(130)
    expect(read()).toMatchObject({ outcome: 'interrupted', reason: { code: 'stopped-at-once' } })
    expect(read().pods.find(({ pod }) => pod === 'web-1')?.phases).toMatchObject([{ state: 'draining' }])
  })

  test('stays as it is where two signals come when the run has ended', async () => {
    const child = reporting('lingering')
    await child.sees('Done: it was done')
    child.process.kill('SIGINT')
    child.process.kill('SIGTERM')
    expect(await child.end()).toBe(0)
    expect(read()).toMatchObject({ outcome: 'done', reason: { message: 'it was done' } })
  })

  test('that cannot be written changes no exit code, and is no secret', async () => {
    const child = reporting('orderly', '-o', 'json')
    await child.sees(AT_WORK)
    rmSync(folder, { recursive: true })
    child.process.kill('SIGINT')
    expect(await child.end()).toBe(130)
    expect(child.stderr()).toContain(`warning: the report could not be written to ${html}: ENOENT`)
    expect(child.stderr()).toContain('sluice report r7 makes it anew')
    expect((JSON.parse(child.stdout()) as RunReport).warnings).toMatchObject(
      [html, json].map((path) => ({ reason: { code: 'report-not-written', path, run: 'r7' } })),
    )
  })
})

describe('the first signal', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 143],
  ] as const)('%s stops the run in order, exits with %i, and says how to go on', async (signal, code) => {
    const child = start('orderly')
    await child.sees(AT_WORK)
    child.process.kill(signal)
    expect(await child.end()).toBe(code)
    expect(child.stderr()).toBe(
      `${signal}: stopping in order. A second signal stops at once; the cluster keeps what a later run needs to go on.\n`,
    )
    expect(child.stdout()).toContain(RESUME)
  })

  test('with -o jsonl the way on goes to stderr and into the last line', async () => {
    const child = start('orderly', '-o', 'jsonl')
    await child.sees('"to":"draining"')
    child.process.kill('SIGINT')
    expect(await child.end()).toBe(130)
    expect(child.stderr()).toContain(RESUME)
    const lines = child.stdout().trimEnd().split('\n')
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({
      apiVersion: 'sluice.dev/v1',
      kind: 'RunReport',
      outcome: 'interrupted',
      exitCode: 130,
      next: [{ to: 'goOn', shell: `kubectl sluice upgrade sts/web 'app=it'\\''s:v2' -n shop` }],
    })
  })

  test('while nothing has begun ends the process at once', async () => {
    const child = start('preparing')
    await child.sees('preparing')
    child.process.kill('SIGTERM')
    expect(await child.end()).toBe(143)
    expect(child.stderr()).toBe(`preparing\nSIGTERM: nothing was touched. ${RESUME}`)
  })
})

test('a signal while an abort prepares its own run says that the order stands', async () => {
  const child = start('preparing', '-o', 'text', 'aborts')
  await child.sees('preparing')
  child.process.kill('SIGTERM')
  expect(await child.end()).toBe(143)
  expect(child.stderr()).toContain(`SIGTERM: stopped. An order that was given stands, as sluice status shows. ${RESUME}`)
})

describe('the second signal', () => {
  test('ends the process at once, with the code of the first', async () => {
    const child = start('stuck')
    await child.sees(AT_WORK)
    child.process.kill('SIGINT')
    await child.sees('SIGINT: stopping in order')
    child.process.kill('SIGTERM')
    expect(await child.end()).toBe(130)
    expect(child.stderr()).toContain(`SIGTERM again: stopped at once. ${RESUME}`)
  })

  test('may be the same one', async () => {
    const child = start('stuck')
    await child.sees(AT_WORK)
    // Two signals in one moment count as one press, so the test repeats the signal until it is heard.
    for (; !child.isOver(); await sleep(50)) child.process.kill('SIGINT')
    expect(await child.end()).toBe(130)
  })

  test('control: without it the stuck run goes on', async () => {
    const child = start('stuck')
    await child.sees(AT_WORK)
    child.process.kill('SIGINT')
    await child.sees('interrupted: no new pod is started')
    await sleep(300)
    expect(child.isOver()).toBe(false)
  })
})

describe('a mistake of sluice itself', () => {
  test.each([
    ['bug', 'TypeError: undefined is not a pod'],
    ['rejection', 'TypeError: nobody waits for this pod'],
  ])('%s stops the run in order and exits with 1', async (scenario, message) => {
    const child = start(scenario)
    expect(await child.end()).toBe(1)
    expect(child.stderr()).toContain(`error: ${message}\nThis is a bug in sluice.`)
    expect(child.stderr()).not.toContain('    at ')
    expect(child.stdout()).toContain('interrupted: no new pod is started')
  })
})

describe('stdout', () => {
  test('that goes away does not end the run', async () => {
    const child = start('chatty')
    await child.sees(AT_WORK)
    child.process.stdout!.destroy()
    // Many writes fail meanwhile. The signal that is heard afterwards proves that the process lives.
    await sleep(200)
    expect(child.isOver()).toBe(false)
    child.process.kill('SIGINT')
    expect(await child.end()).toBe(130)
    expect(child.stderr()).toContain('SIGINT: stopping in order')
  })

  test('that nobody reads does not hold the run up', async () => {
    const child = start('loud')
    child.process.stdout!.pause()
    await child.sees('the event loop turns')
    child.process.kill('SIGINT')
    await child.sees('SIGINT: stopping in order')
    child.process.stdout!.resume()
    expect(await child.end()).toBe(130)
    expect(child.stdout()).toContain(RESUME)
  })

  test('that is read late is whole', async () => {
    const child = start('loud')
    child.process.stdout!.pause()
    await child.sees('the event loop turns')
    child.process.kill('SIGINT')
    // Longer than the limit of stderr: a page in a pager.
    await sleep(2500)
    expect(child.isOver()).toBe(false)
    child.process.stdout!.resume()
    expect(await child.end()).toBe(130)
    expect(child.stdout()).toContain(RESUME)
  })
})

/** A file of Linux that behaves like one on a full disk. */
const FULL_DISK = '/dev/full'

describe('a log', () => {
  test.skipIf(!existsSync(FULL_DISK))('that a full disk does not take changes nothing', async () => {
    const full = openSync(FULL_DISK, 'w')
    onTestFinished(() => closeSync(full))
    const { PATH = '' } = process.env
    const child = spawn(process.execPath, [SCRIPT, 'done'], {
      env: { PATH, SLUICE_LOG: 'info' },
      stdio: ['ignore', 'pipe', full],
    })
    let stdout = ''
    child.stdout!.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    expect(await once(child, 'close')).toEqual([0, null])
    expect(stdout).toContain('Done: it was done')
  })

  test('that nobody reads does not hold the run up', async () => {
    const child = startChild([SCRIPT, 'loud'], { env: { SLUICE_LOG: 'warn' } })
    onTestFinished(() => void child.process.kill('SIGKILL'))
    child.process.stderr!.pause()
    await child.sees('warning: xxx')
    child.process.kill('SIGINT')
    await child.sees('interrupted: no new pod is started')
    child.process.stderr!.resume()
    expect(await child.end()).toBe(130)
    expect(child.stderr()).toContain('SIGINT: stopping in order')
  })
})

/** A tool of util-linux that runs a command on a terminal of its own. */
const SCRIPT_COMMAND = '/usr/bin/script'

test.skipIf(!existsSync(SCRIPT_COMMAND))(
  'a terminal that takes nothing (Ctrl-S, a stalled ssh) does not hold the run up',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-terminal-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const stderr = join(folder, 'stderr')
    const told = (text: string): boolean => existsSync(stderr) && readFileSync(stderr, 'utf8').includes(text)
    const command = `echo $$ >'${folder}/pid'; exec '${process.execPath}' '${SCRIPT}' loud 2>'${stderr}'`
    const { PATH = '' } = process.env
    const terminal = spawn(SCRIPT_COMMAND, ['-qefc', command, '/dev/null'], {
      env: { PATH, TERM: 'xterm' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = once(terminal, 'close')
    onTestFinished(() => void terminal.kill('SIGKILL'))
    terminal.stdout.pause()
    while (!told('the event loop turns')) await sleep(20)
    process.kill(Number(readFileSync(join(folder, 'pid'), 'utf8')), 'SIGINT')
    while (!told('SIGINT: stopping in order')) await sleep(20)
    terminal.stdout.resume()
    expect(await ended).toEqual([130, null])
  },
)
