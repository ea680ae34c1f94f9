/** Tests with real shells, on this host and behind programs in place of ssh. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { AdapterError } from '../contract.ts'
import { createHost, type ScriptCall } from './host.ts'
import { quote } from './quote.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-host-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const EFFECT = { hasEffect: true }

function callOf(over: Partial<ScriptCall> = {}): ScriptCall {
  return { deadlineMs: 20_000, signal: new AbortController().signal, assertLive: () => {}, ...over }
}

/** A program between this host and the shell. */
function program(lines: string): string[] {
  const path = join(folder, 'leads-to-lb1')
  writeFileSync(path, `#!/bin/sh\n${lines}\n`, { mode: 0o755 })
  return [path]
}

function hostBehind(lines: string) {
  return createHost({ component: 'test edge', prefix: program(lines) })
}

async function failureOf(work: Promise<unknown>): Promise<AdapterError> {
  const error = await work.then(
    () => expect.unreachable('nothing failed'),
    (caught: unknown) => caught,
  )
  expect(error).toBeInstanceOf(AdapterError)
  return error as AdapterError
}

async function eventually(condition: () => boolean): Promise<void> {
  await expect.poll(condition, { timeout: 10_000, interval: 10 }).toBe(true)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test('a script answers with its status and all that it has printed', async () => {
  const host = createHost({ component: 'test edge' })
  const { status, output } = await host.run('echo out; echo err >&2; printf "no end"; exit 7', callOf())
  expect([status, output.toString()]).toEqual([7, 'out\nerr\nno end'])
  expect((await host.run(':', callOf())).status).toBe(0)
})

test('what it runs has no input, and does not eat the rest of the script', async () => {
  const { output } = await createHost({ component: 'test edge' }).run('cat; echo after', callOf())
  expect(output.toString()).toBe('after\n')
})

test('quoted words reach a script as they are, also behind a shell that joins its words', async () => {
  const word = `a 'b' "c" $d \`e\` \\f\n*`
  for (const host of [createHost({ component: 'test edge' }), hostBehind('exec sh -c "$*"')]) {
    const { output } = await host.run(`printf %s ${quote(word)}`, callOf())
    expect(output.toString()).toBe(word)
  }
})

test('a login shell that greets is no answer', async () => {
  const { output } = await hostBehind('echo Welcome to lb1; exec "$@"').run('echo answer', callOf())
  expect(output.toString()).toBe('answer\n')
})

test('assertLive is asked once the shell is there, and nothing runs without it', async () => {
  const seen = join(folder, 'seen')
  const lost = new Error('another process owns this run')
  let isThere = false
  const host = hostBehind(`touch ${seen}; exec "$@"`)
  const assertLive = () => {
    isThere = readFileSync(seen).length === 0
    throw lost
  }
  await expect(host.run(`touch ${folder}/done`, callOf({ assertLive }), EFFECT)).rejects.toBe(lost)
  expect(isThere).toBe(true)
  expect(() => readFileSync(join(folder, 'done'))).toThrow('ENOENT')
})

test.each<[string, string, AdapterError['kind'], string]>([
  ['is away', 'echo "ssh: connect to host lb1 port 22: Connection refused" >&2; exit 255', 'retryable', 'Connection refused'],
  ['refuses the key', 'echo "root@lb1: Permission denied (publickey)." >&2; exit 255', 'fatal', 'Permission denied (publickey)'],
  ['is another one', 'echo "Host key verification failed." >&2; exit 255', 'fatal', 'Host key verification failed'],
  ['has no shell', 'exec nothing-of-that-name', 'fatal', 'nothing-of-that-name'],
  ['ends at once', 'exit 3', 'retryable', 'exit code 3'],
])('a host that %s: nothing was run', async (_, lines, kind, words) => {
  const host = hostBehind(lines)
  const error = await failureOf(host.run('echo', callOf(), EFFECT))
  expect(error.kind).toBe(kind)
  expect(error.message).toContain(`test edge: no shell on ${host.name}: `)
  expect(error.message).toContain(words)
})

test.each<[string, AdapterError['kind']]>([
  ['/nowhere/ssh', 'fatal'],
  ['nothing-of-that-name', 'fatal'],
  ['/etc/passwd', 'fatal'],
])('a prefix that cannot be run: %s', async (name, kind) => {
  const error = await failureOf(createHost({ component: 'test edge', prefix: [name] }).run('echo', callOf(), EFFECT))
  expect(error.kind).toBe(kind)
  expect(error.message).toContain(name)
})

test('an answer that breaks off is ambiguous for an effect, and retryable for a read', async () => {
  const script = `touch ${folder}/done; kill -9 $PPID $$`
  const host = createHost({ component: 'test edge' })
  expect((await failureOf(host.run(script, callOf(), EFFECT))).kind).toBe('ambiguous')
  expect(readFileSync(join(folder, 'done'), 'utf8')).toBe('')
  expect((await failureOf(host.run(script, callOf()))).kind).toBe('retryable')
  // ssh ends in this way if its connection breaks.
  const cut = hostBehind('exec 3<&0; "$@" <&3 & sleep 0.2; exit 255')
  expect((await failureOf(cut.run('exec sleep 60', callOf({ deadlineMs: 10 }), EFFECT))).kind).toBe('ambiguous')
})

test('a script that arrives in part does not run', async () => {
  // The bytes after the first 100 get lost.
  const host = hostBehind(`dd bs=1 count=100 2>/dev/null | "$@"`)
  const error = await failureOf(host.run(`touch ${folder}/done\n${'# a long comment\n'.repeat(20)}`, callOf(), EFFECT))
  expect(error.kind).toBe('ambiguous')
  expect(() => readFileSync(join(folder, 'done'))).toThrow('ENOENT')
})

test('a call that is given up ends the script and all that it has started', async () => {
  const over = new AbortController()
  const host = createHost({ component: 'test edge' })
  const pids = join(folder, 'pids')
  const script = `sh -c 'trap "" TERM; echo $$ >>${pids}; while :; do sleep 1; done' & echo $$ >>${pids}; wait`
  const ran = failureOf(host.run(script, callOf({ signal: over.signal }), EFFECT))
  const read = (): number[] => {
    try {
      return readFileSync(pids, 'utf8').trim().split('\n').map(Number)
    } catch {
      return []
    }
  }
  await eventually(() => read().length === 2)
  over.abort()
  expect((await ran).kind).toBe('ambiguous')
  const started = read()
  await eventually(() => !started.some(isAlive))
  expect((await failureOf(host.run('echo', callOf({ signal: over.signal }), EFFECT))).kind).toBe('retryable')
})

test('a script outlives its deadline by no more than a moment, though its caller is gone', async () => {
  const pid = join(folder, 'pid')
  // The shell on another host cannot be killed from here.
  const host = hostBehind('exec setsid --wait "$@"')
  const error = await failureOf(host.run(`echo $$ >${pid}; exec sleep 60`, callOf({ deadlineMs: 10 }), EFFECT))
  expect(error.kind).toBe('ambiguous')
  const [started] = readFileSync(pid, 'utf8').split('\n').map(Number)
  await eventually(() => !isAlive(started!))
})

test('a child that keeps the pipes open holds up no answer', async () => {
  const { output } = await hostBehind('sleep 60 & pid=$!; "$@"; kill $pid').run('echo answer', callOf())
  expect(output.toString()).toBe('answer\n')
})

test('an answer without end is refused', async () => {
  const error = await failureOf(createHost({ component: 'test edge' }).run('exec yes', callOf()))
  expect(error.kind).toBe('fatal')
  expect(error.message).toContain('longer than')
})
