import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Adapter, EffectCall, Target } from '../contract.ts'
import { exec } from './index.ts'

vi.setConfig({ testTimeout: 60_000 })

const SERVER = { name: 'a', address: '10.0.0.1', port: 80, state: 'in' }
const TARGET: Target = { id: 'a@10.0.0.1:80', scope: 'exec edge' }
const LIST = JSON.stringify({ v: 1, entries: [SERVER] })
/** A script that answers a list, and runs `onChange` for a change. `$request` is the document. */
const script = (onChange: string): string => `request=$(cat)
case "$request" in
  *'"call":"list"'*) printf '%s' '${LIST}' ;;
  *) ${onChange} ;;
esac
`

let folder: string
const adapters: Adapter[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-exec-'))
})
afterEach(async () => {
  vi.unstubAllEnvs()
  for (const adapter of adapters.splice(0)) await adapter.close()
  rmSync(folder, { recursive: true })
})

function call(over: Partial<EffectCall> = {}): EffectCall {
  return { deadlineMs: 20_000, assertLive: () => {}, operationIds: new Map([[TARGET.id, 'op-1']]), fence: 7, ...over }
}

function adapterOf(program: string, more: object = {}): Adapter {
  const file = join(folder, 'lb')
  writeFileSync(file, `#!/bin/sh\n${program}`)
  chmodSync(file, 0o755)
  const options = { command: ['./lb', '--pool', 'web'], capabilities: { settle: '0s' }, ...more }
  const adapter = exec.create(exec.options.parse(options), { name: 'edge', folder })
  adapters.push(adapter)
  return adapter
}

async function drained(adapter: Adapter, over?: Partial<EffectCall>): Promise<object> {
  const results = await adapter.drain([TARGET], call(over)).catch((error: Error) => error)
  return results instanceof Map ? (results.get(TARGET.id) as object) : { outcome: 'failed', error: results }
}

test('a program gets the document, its arguments, its folder, and the variables that are named and no others', async () => {
  vi.stubEnv('EDGE_TOKEN', 'the-token')
  vi.stubEnv('KUBECONFIG', '/somewhere')
  const adapter = adapterOf(script(`printf '%s' "$request" >request; env >env; echo "$@" >args; pwd >folder; echo '{"v":1}'`), {
    env: { TOKEN: { env: 'EDGE_TOKEN' } },
    settings: { pool: 'web' },
  })
  expect(await drained(adapter)).toEqual({ outcome: 'applied' })
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8').trim()
  expect(JSON.parse(read('request'))).toMatchObject({
    v: 1,
    call: 'drain',
    loadBalancer: 'edge',
    settings: { pool: 'web' },
    fence: 7,
    entries: [{ ...SERVER, operation: 'op-1' }],
  })
  expect([read('args'), read('folder')]).toEqual(['--pool web', folder])
  const names = read('env')
    .split('\n')
    .map((line) => line.split('=', 1)[0])
  // A shell sets some variables itself.
  expect(names.filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name!))).toEqual(['TOKEN'])
})

describe('an effect whose answer is none is ambiguous, and says why', () => {
  test.each([
    ['exits with 1', 'echo the disk is full >&2; exit 1', 'it has ended with exit code 1; it says: the disk is full'],
    ['is killed', 'kill -9 $$', 'it was ended by SIGKILL'],
    ['says nothing', 'exit 0', 'it has answered nothing'],
    ['prints garbage', 'echo drained', 'its answer is no JSON document'],
    ['speaks another version', `echo '{"v":2}'`, 'its answer is not right: v: '],
    ['prints 100 MB', 'head -c 104857600 /dev/zero', 'its answer is longer than 33554432 bytes'],
    [
      'answers for an entry that it was not asked for',
      `echo '{"v":1,"results":[{"name":"b","outcome":"applied"}]}'`,
      'its answer is about b, which it was not asked for',
    ],
    ['leaves one out', `echo '{"v":1,"results":[]}'`, 'its answer has no result for a'],
    [
      'has a long name',
      `printf '{"v":1,"results":[{"name":"'; head -c 100000 /dev/zero | tr '\\0' x; echo '","outcome":"applied"}]}'`,
      'its answer is not right: results[0]',
    ],
  ])('%s', async (_, onChange, message) => {
    const result = await drained(adapterOf(script(onChange)))
    expect(result).toMatchObject({ outcome: 'failed', error: { kind: 'ambiguous' } })
    expect((result as { error: Error }).error.message).toContain(`exec edge: ${join(folder, 'lb')}: ${message}`)
  })

  test('hangs: it and what it has started are ended at the deadline', async () => {
    // Without the end of the process group, the child would change the load balancer later.
    const adapter = adapterOf(script('(sleep 3; touch late) & sleep 600'))
    const result = await drained(adapter, { deadlineMs: 1_000 })
    expect(result).toMatchObject({ outcome: 'failed', error: { kind: 'ambiguous' } })
    await new Promise((resolve) => setTimeout(resolve, 4_000))
    expect(existsSync(join(folder, 'late'))).toBe(false)
  })

  test('ends, and leaves a process that holds its output open', async () => {
    const adapter = adapterOf(script(`setsid sleep 5 & sleep 0.5; echo '{"v":1}'`))
    const result = await drained(adapter)
    expect(result).toMatchObject({
      error: { kind: 'ambiguous', message: expect.stringMatching(/process \d+ \(sleep\) holds its output open/) as string },
    })
  })
})

/** Starts a separate sluice with a drain that hangs. The program and its child ignore SIGTERM. */
async function startHanging(deadlineMs: number): Promise<{ sluice: ChildProcess; plugin: number[] }> {
  const lb = join(folder, 'lb')
  writeFileSync(lb, `#!/bin/sh\n${script('trap "" TERM; sleep 600 & echo $$ $! >pids.new; mv pids.new pids; wait; sleep 600')}`)
  chmodSync(lb, 0o755)
  const options = { command: [lb], capabilities: { settle: '0s' } }
  const code = `
    import { exec } from ${JSON.stringify(join(import.meta.dirname, 'index.ts'))}
    const adapter = exec.create(exec.options.parse(${JSON.stringify(options)}), { name: 'edge', folder: ${JSON.stringify(folder)} })
    const call = { deadlineMs: ${deadlineMs}, assertLive() {}, operationIds: new Map(), fence: 1 }
    await adapter.drain([${JSON.stringify(TARGET)}], call)`
  const sluice = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: 'ignore' })
  onTestFinished(() => void sluice.kill('SIGKILL'))
  await expect.poll(() => existsSync(join(folder, 'pids')), { timeout: 20_000 }).toBe(true)
  const plugin = readFileSync(join(folder, 'pids'), 'utf8').trim().split(' ').map(Number)
  onTestFinished(() => {
    for (const pid of plugin.filter(isAlive)) process.kill(pid, 'SIGKILL')
  })
  expect(plugin.map(isAlive)).toEqual([true, true])
  return { sluice, plugin }
}

/** True if the process runs. A zombie process has ended. */
function isAlive(pid: number): boolean {
  const file = `/proc/${pid}/stat`
  return existsSync(file) && !/^\d+ \(.*\) Z/.test(readFileSync(file, 'utf8'))
}

describe('a program that hangs, and what it has started, end without sluice', () => {
  test.each([
    ['is killed', 'SIGKILL', 600_000],
    ['stands still', 'SIGSTOP', 3_000],
  ] as const)('that %s', async (_, signal, deadlineMs) => {
    const { sluice, plugin } = await startHanging(deadlineMs)
    sluice.kill(signal)
    await expect.poll(() => plugin.map(isAlive), { timeout: 20_000 }).toEqual([false, false])
  })
})

test.each([
  ['that waits for its document', 'request=$(/bin/cat); [ -z "$request" ] || /bin/touch asked'],
  ['that ends at once', 'exit 1'],
])('without timeout, no program gets a document, also a program %s: fatal, and both are named', async (_, program) => {
  symlinkSync('/bin/sh', join(folder, 'sh'))
  vi.stubEnv('PATH', folder)
  const adapter = adapterOf(program)
  await expect(adapter.inspect([TARGET], call())).rejects.toMatchObject({
    kind: 'fatal',
    message: expect.stringContaining('cannot be started: it needs sh and timeout in PATH') as string,
  })
  expect(existsSync(join(folder, 'asked'))).toBe(false)
})

test('a right that is lost while a program starts: it gets no document', async () => {
  const lost = new Error('the Lease is lost')
  let asked = 0
  // The check runs before the program starts, and before its document is sent.
  const assertLive = (): void => {
    if (++asked === 2) throw lost
  }
  const adapter = adapterOf(`request=$(cat); [ -z "$request" ] || touch asked`)
  const inspected = adapter.inspect([TARGET], call({ assertLive }))
  await expect(inspected).rejects.toBe(lost)
  expect(existsSync(join(folder, 'asked'))).toBe(false)
})

test('a list whose answer is none is retryable', async () => {
  const wrong = [
    { ...SERVER, inFlight: -1 },
    { ...SERVER, name: 'x'.repeat(100_000) },
    { ...SERVER, port: 0 },
    { ...SERVER, address: '10.0.0.1\u001b[2J' },
  ]
  for (const entry of wrong) {
    const adapter = adapterOf(`cat >/dev/null; cat entries`)
    writeFileSync(join(folder, 'entries'), JSON.stringify({ v: 1, entries: [entry] }))
    const listed = adapter.inspect([TARGET], call())
    await expect(listed).rejects.toMatchObject({
      kind: 'retryable',
      message: expect.stringMatching(/^exec edge: .*entries\[0\]\./),
    })
  }
  const twice = adapterOf(`cat >/dev/null; echo '${JSON.stringify({ v: 1, entries: [SERVER, SERVER] })}'`)
  await expect(twice.inspect([TARGET], call())).rejects.toMatchObject({
    message: expect.stringContaining('the entry a is there twice'),
  })
})

test('an error that a program gives is its own', async () => {
  const error = { kind: 'throttled', message: 'slow down', retryAfterMs: 250 }
  const adapter = adapterOf(script(`echo '${JSON.stringify({ v: 1, error })}'`))
  expect(await drained(adapter)).toMatchObject({ error: { ...error, message: 'exec edge: slow down' } })
})

describe('no secret that a program is given is seen', () => {
  const SECRET = 's3cr3t-"of"-the-edge-0123456789abcdefghijklmnopqrstuvwxyz-0123456789'
  const echoing = (onChange: string): Adapter => {
    vi.stubEnv('EDGE_TOKEN', SECRET)
    return adapterOf(script(onChange), { env: { TOKEN: { env: 'EDGE_TOKEN' } } })
  }
  const asJson = JSON.stringify(SECRET).slice(1, -1)
  const answering = (answer: string): Adapter => {
    const adapter = echoing('cat answer')
    writeFileSync(join(folder, 'answer'), answer.replaceAll('SECRET', asJson))
    return adapter
  }

  test.each([
    ['its stderr', () => echoing('echo "401 for Bearer $TOKEN" >&2; exit 1'), '401 for Bearer ***'],
    ['a long line of its stderr', () => echoing('for i in $(seq 400); do printf "%s " "$TOKEN" >&2; done; exit 1'), '*** ***'],
    ['its error', () => answering('{"v":1,"error":{"kind":"fatal","message":"\\u001b[31mBearer SECRET"}}'), ' [31mBearer ***'],
    [
      'the error of a result',
      () => answering('{"v":1,"results":[{"name":"a","outcome":"failed","error":{"kind":"fatal","message":"Bearer\\nSECRET"}}]}'),
      'Bearer ***',
    ],
    ['the detail of a result', () => answering('{"v":1,"results":[{"name":"a","outcome":"applied","detail":"SECRET"}]}'), '***'],
    ['a name', () => answering('{"v":1,"results":[{"name":"SECRET","outcome":"applied"}]}'), 'is about ***, which'],
    ['an answer that is not right', () => answering('{"v":1,"results":["Bearer SECRET"]}'), '"Bearer ***"'],
    ['a key that is not known', () => answering('{"v":1,"SECRET":1}'), '***'],
  ])('in %s', async (_, make, shown) => {
    const result = (await drained(make())) as { detail?: string; error?: Error }
    const told = result.detail ?? result.error!.message
    expect(told).toContain(shown)
    for (let from = 0; from + 12 <= SECRET.length; from += 1) expect(told).not.toContain(SECRET.slice(from, from + 12))
    expect(told).not.toMatch(/\p{C}/u)
    expect(String((result.error?.cause as Error | undefined)?.message)).not.toContain('s3cr3t')
  })

  test('in what is said of an entry', async () => {
    vi.stubEnv('EDGE_TOKEN', SECRET)
    const adapter = adapterOf('cat >/dev/null; cat entries', { env: { TOKEN: { env: 'EDGE_TOKEN' } } })
    const write = (more: object): void =>
      writeFileSync(join(folder, 'entries'), JSON.stringify({ v: 1, entries: [{ ...SERVER, ...more }] }))
    write({ detail: `up,\u001b[2J by ${SECRET}` })
    expect((await adapter.inspect([TARGET], call())).get(TARGET.id)?.detail).toBe('up, [2J by ***')
    write({ address: `Bearer ${SECRET}` })
    await expect(adapter.inspect([TARGET], call())).rejects.toMatchObject({
      message: expect.stringContaining('entries[0].address: "Bearer ***": is no address') as string,
    })
  })
})

test('a program that cannot be started is fatal, and named', async () => {
  const adapter = adapterOf('')
  rmSync(join(folder, 'lb'))
  await expect(adapter.inspect([TARGET], call())).rejects.toMatchObject({
    kind: 'fatal',
    message: expect.stringMatching(/^exec edge: .*\/lb cannot be started: there is no such file.*ENOENT/),
  })
})

test.each([
  [{ command: ['lb'] }, 'names a program that is no path'],
  [{ command: [] }, 'is empty'],
  [{ command: ['./lb'], env: { TOKEN: 's3cr3t' } }, 'must not be written out'],
  [{ command: ['./lb'], capabilities: { settle: 'soon' } }, 'is not a duration'],
  [{ command: ['./lb'], shell: true }, 'shell'],
])('%s is refused', (options, message) => {
  const { success, error } = exec.options.safeParse({ capabilities: { settle: '0s' }, ...options })
  expect(success).toBe(false)
  expect(error!.message).toContain(message)
})
