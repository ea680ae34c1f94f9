import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startChild } from './testing/child.ts'
import { kubeconfigOf } from './testing/kubeconfig.ts'
import { sluiceVersion } from './version.ts'

const ENTRY = join(import.meta.dirname, 'sluice.ts')
const CONFIG = `apiVersion: sluice.dev/v1
kind: Config
loadBalancers:
  - {name: edge, adapter: haproxy, port: 8080, options: {socket: /run/none.sock, backend: web}}
`

/** A folder without a home, so that no kubeconfig of this machine is found. */
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-cli-'))
  writeFileSync(join(folder, 'good.yaml'), CONFIG)
  symlinkSync('circle', join(folder, 'circle'))
  execFileSync('mkfifo', [join(folder, 'pipe')])
  writeFileSync(join(folder, 'bad.yaml'), `${CONFIG}drain: {deadline: 60}\nrollot: {}\n`)
})
afterAll(() => rmSync(folder, { recursive: true }))

const kubeconfig = (port: number): string => kubeconfigOf(`http://127.0.0.1:${port}`)

async function sluice(args: string[], { env = {}, entry = ENTRY }: { env?: Record<string, string>; entry?: string } = {}) {
  const child = startChild([entry, ...args], { cwd: folder, env: { HOME: folder, ...env } })
  return { code: await child.end(), stdout: child.stdout(), stderr: child.stderr() }
}

describe('wrong arguments exit with 2, and touch nothing', () => {
  test.each<[string, string[], string]>([
    ['no command', [], 'Usage: sluice [options] [command]'],
    ['a mistyped command', ['upgrad'], "error: unknown command 'upgrad'\n(Did you mean upgrade?)"],
    [
      'a mistyped flag',
      ['upgrade', 'sts/web', '--max-unavailabel', '1'],
      "error: unknown option '--max-unavailabel'\n(Did you mean --max-unavailable?)",
    ],
    [
      'a format that is none',
      ['plan', 'sts/web', '-o', 'xml'],
      "error: option '-o, --output <format>' argument 'xml' is invalid. Allowed choices are text, json, jsonl.",
    ],
    ['nothing to upgrade', ['upgrade'], 'error: what to upgrade is missing: name TYPE/NAME, or pods with -l SELECTOR'],
    [
      'two mistakes',
      ['plan', 'web', 'app='],
      'error: "web" is neither a workload nor an image: write TYPE/NAME for a workload, or CONTAINER=IMAGE for an image\nerror: "app=": "" is no image: it is empty\n',
    ],
    ['no config', ['plan', 'sts/web'], 'sluice.yaml: there is no such file\n'],
    [
      'a wrong config',
      ['plan', 'sts/web', '--config', 'bad.yaml'],
      'bad.yaml:5:19: drain.deadline: 60 has no unit\n    write "60s" for seconds or "60ms" for milliseconds\nbad.yaml:6:1: rollot: unknown key\n    did you mean "rollout"?\n',
    ],
    [
      'a report of another ending',
      ['upgrade', 'sts/web', '--report', 'report.pdf'],
      'error: --report: "report.pdf": the name must end in .html or .json\n',
    ],
    [
      'reports that cannot be written',
      ['undo', 'sts/web', '--report', 'none/report.html', '--report', '.html', '--report', 'bad.yaml/x.json'],
      'error: --report: "none/report.html": it cannot be written there (ENOENT: no such file or directory)\n',
    ],
    [
      'a report whose name nobody can look up',
      ['upgrade', 'sts/web', '--report', `${'x'.repeat(300)}.html`, '--report', 'circle/x.json'],
      'x.html": it cannot be written there (ENAMETOOLONG: name too long)\nerror: --report: "circle/x.json": it cannot be written there (ELOOP',
    ],
    [
      'a report of a dry run',
      ['upgrade', 'sts/web', '--dry-run', '--report', 'report.json'],
      'error: --report: a dry run does nothing that could be reported\n',
    ],
    [
      'a name and a report that are none, told together',
      ['upgrade', 'web', '--report', 'report.pdf'],
      'error: "web" is neither a workload nor an image: write TYPE/NAME for a workload, or CONTAINER=IMAGE for an image\nerror: --report: "report.pdf": the name must end in .html or .json\nRun',
    ],
    ['a report of no run', ['report', '--report', 'report.html'], 'error: which run? Name one, or TYPE/NAME for the newest'],
    [
      'failures in a pipe that nobody writes to',
      ['report', 'r7', '--failures', 'pipe'],
      'error: --failures: "pipe": is no regular file but a pipe, a socket or a device\n',
    ],
    [
      'failures without an end',
      ['report', 'r7', '--failures', '/dev/zero'],
      'error: --failures: "/dev/zero": is no regular file but a pipe',
    ],
    ['failures that are none', ['report', 'r7', '--failures', 'bad.yaml'], 'error: --failures: "bad.yaml": '],
    ['nothing to abort', ['abort'], 'error: what to abort is missing: name TYPE/NAME, or pods with -l SELECTOR'],
    [
      'an image to pause',
      ['pause', 'sts/web', 'app=app:v2'],
      'error: "app=app:v2": pause takes no image: it is about the run that is open\n',
    ],
    [
      'an image to undo, which takes no selector either',
      ['undo', 'app=x:v1'],
      'error: "app=x:v1": undo takes no image: it goes back to the images on record\nRun "sluice undo --help"',
    ],
    ['a name without its type to undo', ['undo', 'web'], 'error: "web" is no workload: write TYPE/NAME\n'],
    ['a name without its type to pause', ['pause', 'web'], 'error: "web" is no workload: write TYPE/NAME\n'],
    ['nothing to plan', ['plan'], 'error: what to plan is missing: name TYPE/NAME, or pods with -l SELECTOR\n'],
    [
      'two selectors, of which the last would count',
      ['pause', '-l', 'app=web', '-l', 'tier=front'],
      `argument 'tier=front' is invalid. It is given twice: -l "app=web,tier=front" asks for pods that match both.\n`,
    ],
    [
      'an empty group to be, which would stand for those of the kubeconfig',
      ['status', '--as-group', ''],
      "error: option '--as-group <group>' argument '' is invalid. It is empty: name one, or leave it out.\n",
    ],
    [
      'an empty load balancer',
      ['resolve', 'web-0', '--traffic', 'in', '--load-balancer', ''],
      "error: option '--load-balancer <name>' argument '' is invalid. It is empty",
    ],
    [
      'a word of both of two pods of one name',
      ['resolve', 'web-0', '--traffic', 'in', '--live', '--gone'],
      "error: option '--gone' cannot be used with option '--live'",
    ],
    ['an empty run to undo', ['undo', 'sts/web', '--run', ''], "error: option '--run <id>' argument '' is invalid. It is empty"],
    ['an empty run to report', ['report', ''], "error: command-argument value '' is invalid for argument 'run'. It is empty"],
    ['an empty config', ['plan', 'sts/web', '--config', ''], "error: option '--config <file>' argument '' is invalid. It is"],
    ['a kind to report', ['report', 'sts'], 'error: "sts" is no run: write sts/NAME for the newest of a workload\n'],
    ['failures of no run', ['report', '--failures', 'bad.yaml'], 'error: which run? Name one, or TYPE/NAME for the newest'],
    [
      'colour where there is none',
      ['pause', 'sts/web', '--color', 'never'],
      'error: unknown option \'--color\'\nRun "sluice pause --help" for its usage.\n',
    ],
    [
      'help for a command that is none',
      ['help', 'upgrad'],
      'error: unknown command \'upgrad\'\n(Did you mean upgrade?)\nRun "sluice COMMAND --help" for its usage.\n',
    ],
    ['a command after --', ['--', 'upgrade'], 'Run "sluice upgrade --help" for its usage.\n'],
    [
      'a number of pods of two lines',
      ['demo', '--pods', '3\nerror: x'],
      'error: --pods: "3\\nerror: x" is no number from 2 to 9\nRun',
    ],
    [
      'an empty namespace, as of a variable that was not set',
      ['status', '-n', ''],
      "error: option '-n, --namespace <name>' argument '' is invalid. No namespace has such a name.\n",
    ],
    [
      'an option before the command, as kubectl takes it',
      ['-n', 'demo', 'plan', 'sts/web'],
      'error: unknown option \'-n\'\nRun "sluice COMMAND --help" for its usage.\nOptions come after the command: sluice COMMAND -n …\n',
    ],
    [
      'an option that a command does not have',
      ['status', '--grace', '5s'],
      'error: unknown option \'--grace\'\nRun "sluice status --help" for its usage.\n',
    ],
    [
      'an empty kubeconfig, as of a variable that was not set',
      ['status', '--kubeconfig', ''],
      "error: option '--kubeconfig <file>' argument '' is invalid. It is empty: name one, or leave it out.\n",
    ],
    ['an empty user to be', ['cleanup', '--as', ''], "error: option '--as <user>' argument '' is invalid. It is empty"],
    ['a line break in a user to be', ['status', '--as', 'x\ny'], `argument 'x y' is invalid. It has a line break`],
    // kubectl refuses the user " ". Sluice must not act as the current user instead.
    [
      'a blank at the end of a user to be',
      ['status', '--as', 'x '],
      `is invalid. It has a line break, another control character, or a blank at an end`,
    ],
    [
      'a group of blanks',
      ['status', '--as', 'x', '--as-group', ' '],
      `is invalid. It has a line break, another control character, or a blank`,
    ],
    ['a line break in a group to be', ['status', '--as', 'x', '--as-group', 'x\ny'], `is invalid. It has a line break`],
    ['a namespace that is none', ['cleanup', '--namespace', 'Shop'], "argument 'Shop' is invalid."],
    ['escape sequences in a namespace', ['plan', '-n', '\u001B[31m', 'sts/web'], String.raw`argument '\u001b[31m' is invalid.`],
    ['escape sequences in a format', ['plan', '-o', '\u001B[31mx'], String.raw`argument '\u001b[31mx' is invalid. Allowed`],
    ['escape sequences in a flag', ['plan', '--\u001B[31mx'], String.raw`error: unknown option '--\u001b[31mx'`],
    ['escape sequences before a command', ['--\u001B[31mx', 'plan'], String.raw`sluice COMMAND --\u001b[31mx …`],
    ['escape sequences in a command', ['\u001B[31mx'], String.raw`error: unknown command '\u001b[31mx'`],
    ['a namespace of two lines', ['plan', '-n', 'a\nerror: b', 'sts/web'], "argument 'a error: b' is invalid."],
    ['a workload that status cannot have', ['status', 'svc/web'], 'error: "svc/web": sluice cannot upgrade a svc'],
    [
      'a log level that is none',
      ['upgrade', 'sts/web', '--config', 'good.yaml'],
      'error: SLUICE_LOG: "loud" is none of trace, debug',
    ],
    ...[['status'], ['cleanup'], ['report'], ['pause', 'sts/web'], ['resolve', 'web-0', '--traffic', 'in']].map(
      (args): [string, string[], string] => [
        `a log level that is none, to ${args[0]}`,
        args,
        'error: SLUICE_LOG: "loud" is none of trace, debug',
      ],
    ),
  ])('%s', async (name, args, text) => {
    const { code, stdout, stderr } = await sluice(args, name.startsWith('a log level') ? { env: { SLUICE_LOG: 'loud' } } : {})
    expect(stderr).toContain(text)
    expect(stdout).toBe('')
    expect(code).toBe(2)
  })
})

describe('the config is found', () => {
  test.each<[string, string[], Record<string, string>, string]>([
    ['by $SLUICE_CONFIG', [], { SLUICE_CONFIG: 'bad.yaml' }, 'bad.yaml:5:19: '],
    ['by --config, which wins', ['--config', 'none.yaml'], { SLUICE_CONFIG: 'bad.yaml' }, 'none.yaml: there is no such file'],
    ['in the working directory', [], { SLUICE_CONFIG: '' }, 'sluice.yaml: there is no such file'],
  ])('%s', async (_name, args, env, text) => {
    const { code, stderr } = await sluice(['plan', 'sts/web', ...args], { env })
    expect(stderr).toContain(text)
    expect(code).toBe(2)
  })
})

describe('a cluster that cannot be reached exits with 3', () => {
  const commands = [
    ['plan', 'sts/web', '--config', 'good.yaml'],
    ['upgrade', 'sts/web', '--config', 'good.yaml'],
    ['status'],
    ['cleanup'],
  ]

  test.each(commands)('%s: no kubeconfig', async (...args) => {
    const { code, stdout, stderr } = await sluice(args)
    expect(stderr).toContain('error: no cluster is configured')
    expect(stderr).not.toContain('bug')
    expect(stdout).toBe('')
    expect(code).toBe(3)
  })

  test.each(['pipe', '/dev/zero'])('status: the kubeconfig %s, which has no end', async (name) => {
    const { code, stderr } = await sluice(['status'], { env: { KUBECONFIG: name } })
    expect(stderr).toBe(
      `error: kubeconfig ${name} cannot be read: "${name}" is no regular file but a pipe, a socket or a device\n`,
    )
    expect(code).toBe(3)
  })

  test('plan: nobody listens', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    await new Promise((resolve) => server.close(resolve))
    writeFileSync(join(folder, 'kubeconfig'), kubeconfig(port))
    const { code, stderr } = await sluice(['plan', 'sts/web', '--config', 'good.yaml', '--kubeconfig', 'kubeconfig'])
    expect(stderr).not.toContain('bug')
    expect(stderr).toMatch(/^error: /)
    expect(code).toBe(3)
  })
})

/** Starts a command that waits for an API server without answers. */
async function waiting(args: string[]) {
  const server = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1')
  const asked = new Promise((resolve) => server.once('connection', resolve))
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  writeFileSync(join(folder, 'silent'), kubeconfig((server.address() as { port: number }).port))
  const child = startChild([ENTRY, ...args, '--kubeconfig', 'silent'], { cwd: folder, env: { HOME: folder } })
  onTestFinished(() => void child.process.kill('SIGKILL'))
  await asked
  return child
}

test.each([
  ['SIGINT', 130],
  ['SIGHUP', 143],
] as const)('abort, told by %s to end while it waits, exits with %i and says how to go on', async (signal, code) => {
  const child = await waiting(['abort', 'sts/web'])
  child.process.kill(signal)
  expect(await child.end()).toBe(code)
  expect(child.stderr()).toContain('To go on from here:\n  sluice abort sts/web --kubeconfig silent\n')
})

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 143],
] as const)('a plan that %s ends exits with %i', async (signal, code) => {
  const child = await waiting(['plan', 'sts/web', '--config', 'good.yaml'])
  child.process.kill(signal)
  expect(await child.end()).toBe(code)
})

test.skipIf(process.platform === 'win32')('SIGUSR1 opens no debugger', async () => {
  const child = await waiting(['status'])
  child.process.kill('SIGUSR1')
  await sleep(300)
  child.process.kill('SIGTERM')
  expect(await child.end()).toBe(143)
  expect(child.stderr()).not.toContain('Debugger listening')
})

describe('help and version', () => {
  test('--help goes to stdout and exits with 0', async () => {
    const { code, stdout, stderr } = await sluice(['upgrade', '--help'])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain('sluice upgrade statefulset/web app=registry.example/app:v2')
    expect(stdout).toContain('130, 143 interrupted, resumable')
  })

  test('as a plugin of kubectl it is called that', async () => {
    const plugin = join(folder, 'kubectl-sluice')
    symlinkSync(ENTRY, plugin)
    expect((await sluice(['upgrade', '--help'], { entry: plugin })).stdout).toMatch(/^Usage: kubectl sluice upgrade /)
    expect((await sluice(['upgrade'], { entry: plugin })).stderr).toContain('Run "kubectl sluice upgrade --help"')
  })

  test('version', async () => {
    for (const command of [[], ['upgrade'], ['observe'], ['observe', 'replay'], ['adapter', 'new']])
      expect((await sluice([...command, '--version'])).stdout, command.join(' ')).toBe(`${sluiceVersion()}\n`)
    expect((await sluice(['version'])).stdout).toBe(`sluice ${sluiceVersion()} (node ${process.versions.node})\n`)
    expect(JSON.parse((await sluice(['version', '-o', 'json'])).stdout)).toMatchObject({
      kind: 'Version',
      version: sluiceVersion(),
    })
  })
})
