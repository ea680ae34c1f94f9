/** Tests with real files, and with real processes that write them. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { AdapterError } from '../contract.ts'
import type { ScriptCall } from '../host/host.ts'
import type { Document } from './document.ts'
import { createFileDocument, type FileDocumentOptions } from './file-document.ts'

const STRANGE = `it's a "dark & stormy" $(night); #1`
const isRoot = process.getuid?.() === 0
/** Runs a command as another user, if this user has the right. */
const AS_NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']

let folder: string
let file: string
const children: ChildProcess[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-document-'))
  file = join(folder, 'servers.conf')
  writeFileSync(file, 'first\n')
})
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

function callOf(over: Partial<ScriptCall> = {}): ScriptCall {
  return { deadlineMs: 20_000, signal: new AbortController().signal, assertLive: () => {}, ...over }
}

function documentOf(over: Partial<FileDocumentOptions> = {}): Document {
  return createFileDocument({ component: 'test edge', path: file, ...over })
}

/** Runs its arguments as ssh does: joined, and parsed by a shell. */
function fakeSsh(): string[] {
  const program = join(folder, 'fake ssh')
  writeFileSync(program, '#!/bin/sh\n[ "$1" = lb1 ] || exit 255\nshift\nexec sh -c "$*"\n', { mode: 0o755 })
  return [program, 'lb1']
}

/** A process that adds a line to the document, and retries after a conflict. */
async function writerOf(line: string): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, 'testing/writer.ts'), [file, line], { stdio: 'inherit' })
  children.push(child)
  await saidBy(child, 'ready')
  return child
}

async function saidBy(child: ChildProcess, wanted: string): Promise<void> {
  for (;;) {
    const [message] = (await once(child, 'message')) as [string]
    if (message === wanted) return
    if (message.startsWith('failed')) throw new Error(message)
  }
}

/** The files besides the document and its lock. */
function leftovers(): string[] {
  return readdirSync(folder).filter((name) => !['servers.conf', '.servers.conf.lock', 'fake ssh'].includes(name))
}

describe('a read and a write', () => {
  test('the text that was written is read, by the version that the write has given', async () => {
    const document = documentOf()
    const read = await document.read(callOf())
    expect(read.text).toBe('first\n')
    const version = await document.write('second, without an end', read.version, callOf())
    expect(readFileSync(file, 'utf8')).toBe('second, without an end')
    expect(await document.read(callOf())).toEqual({ text: 'second, without an end', version })
    expect(leftovers()).toEqual([])
  })

  test('a text that is there again is another version: what rests on the former one comes too late', async () => {
    const document = documentOf()
    const former = await document.read(callOf())
    const second = await document.write('second\n', former.version, callOf())
    const third = await document.write('first\n', second, callOf())
    expect(await documentOf().read(callOf())).toEqual({ text: 'first\n', version: third })
    await expect(document.write('late\n', former.version, callOf())).rejects.toMatchObject({ kind: 'conflict' })
    writeFileSync(file, 'first\n')
    await expect(document.write('late\n', third, callOf())).rejects.toMatchObject({ kind: 'conflict' })
    expect(readFileSync(file, 'utf8')).toBe('first\n')
  })

  test.each(['', 'ünïcode \u{1F6B0}\r\n', `'"\`$(rm -rf /tmp/x)\\n\0`, 'x'.repeat(3_000_000)])(
    'text %#: byte by byte',
    async (text) => {
      const document = documentOf()
      await document.write(text, (await document.read(callOf())).version, callOf())
      expect(readFileSync(file, 'utf8') === text).toBe(true)
      expect((await document.read(callOf())).text === text).toBe(true)
    },
  )

  test('a file that is no UTF-8 is refused, and is kept byte by byte as latin1', async () => {
    writeFileSync(file, Buffer.from([0x23, 0xfc, 0x0a]))
    await expect(documentOf().read(callOf())).rejects.toMatchObject({ kind: 'fatal', message: expect.stringContaining('UTF-8') })
    const document = documentOf({ encoding: 'latin1' })
    const { text, version } = await document.read(callOf())
    await document.write(`${text}more\n`, version, callOf())
    expect(readFileSync(file)).toEqual(Buffer.concat([Buffer.from([0x23, 0xfc, 0x0a]), Buffer.from('more\n')]))
  })

  test('an edit in between is a conflict, and stays', async () => {
    const document = documentOf()
    const { version } = await document.read(callOf())
    writeFileSync(file, 'first\nby hand\n')
    await expect(document.write('second\n', version, callOf())).rejects.toMatchObject({ kind: 'conflict' })
    expect(readFileSync(file, 'utf8')).toBe('first\nby hand\n')
    expect(leftovers()).toEqual([])
  })

  test('a guard that fails under the lock is a conflict, and nothing is written', async () => {
    const document = createFileDocument({ component: 'test edge', path: file })
    const { version } = await document.read(callOf())
    const isLocked = `! flock -n -x ${join(folder, '.servers.conf.lock')} true`
    await expect(document.write('second\n', version, callOf(), `${isLocked} && false`)).rejects.toMatchObject({
      kind: 'conflict',
    })
    expect(readFileSync(file, 'utf8')).toBe('first\n')
    expect(leftovers()).toEqual([])
    await document.write('second\n', version, callOf(), isLocked)
    expect(readFileSync(file, 'utf8')).toBe('second\n')
  })

  test('a path with spaces and quotes, on this host and behind a prefix that joins its words', async () => {
    mkdirSync(join(folder, STRANGE))
    const path = join(folder, STRANGE, `${STRANGE}.conf`)
    writeFileSync(path, 'first\n')
    for (const prefix of [[], fakeSsh()]) {
      const document = documentOf({ path, prefix })
      const { text, version } = await document.read(callOf())
      await document.write(`${text}${prefix.length}\n`, version, callOf())
    }
    expect(readFileSync(path, 'utf8')).toBe('first\n0\n2\n')
  })

  test('the identity names host and path', () => {
    expect(documentOf().identity).toBe(file)
    expect(documentOf({ prefix: ['ssh', 'lb1'] }).identity).toBe(`ssh lb1 ${file}`)
  })
})

describe('what a write keeps', () => {
  test('a symbolic link: its target is replaced', async () => {
    mkdirSync(join(folder, 'enabled'))
    const link = join(folder, 'enabled', 'servers.conf')
    symlinkSync('../servers.conf', link)
    const document = documentOf({ path: link })
    await document.write('second\n', (await document.read(callOf())).version, callOf())
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
    expect(readFileSync(file, 'utf8')).toBe('second\n')
    expect(readdirSync(join(folder, 'enabled'))).toEqual(['servers.conf'])
  })

  test('the mode, also where nobody may write', async () => {
    chmodSync(file, 0o440)
    const document = documentOf()
    await document.write('second\n', (await document.read(callOf())).version, callOf())
    expect(statSync(file).mode & 0o7777).toBe(0o440)
  })

  test.skipIf(!isRoot)('the owner; who cannot give it back changes nothing', async () => {
    chownSync(file, 12_345, 54_321)
    const document = documentOf()
    await document.write('second\n', (await document.read(callOf())).version, callOf())
    expect(statSync(file)).toMatchObject({ uid: 12_345, gid: 54_321 })
    chmodSync(folder, 0o777)
    const nobodys = documentOf({ prefix: AS_NOBODY })
    const { version } = await nobodys.read(callOf())
    const error = await nobodys.write('third\n', version, callOf()).catch((caught: unknown) => caught)
    expect(error).toMatchObject({ kind: 'fatal', message: expect.stringContaining('cannot keep its owner') })
    expect(readFileSync(file, 'utf8')).toBe('second\n')
    expect(leftovers()).toEqual([])
  })

  test('the folder of the file as it is, where the new one is made elsewhere', async () => {
    const temporaryFolder = join(folder, 'elsewhere')
    mkdirSync(temporaryFolder)
    const document = documentOf({ temporaryFolder })
    await document.write('second\n', (await document.read(callOf())).version, callOf())
    expect(readFileSync(file, 'utf8')).toBe('second\n')
    expect(readdirSync(temporaryFolder)).toEqual([])
  })
})

describe('several processes', () => {
  test('two that write at once: the edits of both are there', async () => {
    const lines = ['a', 'b'].flatMap((name) => Array.from({ length: 5 }, (_, index) => `${name}${index}`))
    const writers = await Promise.all(lines.map((line) => writerOf(line)))
    const done = writers.map((writer) => saidBy(writer, 'done'))
    for (const writer of writers) writer.send('go')
    await Promise.all(done)
    expect(readFileSync(file, 'utf8').trim().split('\n').sort()).toEqual([...lines, 'first'].sort())
    expect(leftovers()).toEqual([])
  })

  test('one that is stopped between its read and its write overwrites nothing', async () => {
    const stopped = await writerOf('stopped')
    stopped.send('hold')
    await saidBy(stopped, 'holds')
    stopped.kill('SIGSTOP')
    const document = documentOf()
    await document.write('first\nby another\n', (await document.read(callOf())).version, callOf())
    const conflict = saidBy(stopped, 'conflict')
    stopped.kill('SIGCONT')
    stopped.send('go on')
    await conflict
    await saidBy(stopped, 'done')
    expect(readFileSync(file, 'utf8')).toBe('first\nby another\nstopped\n')
  })

  test('a lock that is held: nothing is written, and the error says so', async () => {
    const document = documentOf()
    const { version } = await document.read(callOf())
    await document.write('second\n', version, callOf())
    const held = await holdLock(join(folder, '.servers.conf.lock'))
    const next = await document.read(callOf())
    await expect(document.write('third\n', next.version, callOf({ deadlineMs: 400 }))).rejects.toMatchObject({
      kind: 'retryable',
      message: expect.stringContaining('holds the lock'),
    })
    held.kill('SIGKILL')
    await once(held, 'exit')
    await document.write('third\n', next.version, callOf())
    expect(readFileSync(file, 'utf8')).toBe('third\n')
  })
})

async function holdLock(lock: string): Promise<ChildProcess> {
  const { spawn } = await import('node:child_process')
  const child = spawn('sh', ['-c', 'exec 9>>"$1"; flock -x 9; echo held; exec sleep 60', 'sh', lock], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  await once(child.stdout!, 'data')
  return child
}

describe('what fails', () => {
  async function failure(document: Document, work: 'read' | 'write', version = '["",""]'): Promise<AdapterError> {
    const called = work === 'read' ? document.read(callOf()) : document.write('second\n', version, callOf())
    return called.then(
      () => expect.unreachable('nothing failed'),
      (error: unknown) => {
        expect(error).toBeInstanceOf(AdapterError)
        return error as AdapterError
      },
    )
  }
  async function versionNow(): Promise<string> {
    return (await documentOf().read(callOf())).version
  }

  test.each(['read', 'write'] as const)('%s: no file, for the moment at least', async (work) => {
    renameSync(file, `${file}.away`)
    expect(await failure(documentOf(), work)).toMatchObject({
      kind: 'retryable',
      message: `test edge: there is no file ${file}`,
    })
  })

  test('a folder is no file', async () => {
    expect(await failure(documentOf({ path: folder }), 'read')).toMatchObject({
      kind: 'fatal',
      message: `test edge: ${folder} is no file: name the file itself`,
    })
  })

  test('a temporary folder that is not there', async () => {
    const temporaryFolder = join(folder, 'nowhere')
    expect(await failure(documentOf({ temporaryFolder }), 'write', await versionNow())).toMatchObject({
      kind: 'retryable',
      message: expect.stringContaining(`there is no folder ${temporaryFolder}`),
    })
  })

  test('a temporary folder of another file system', async () => {
    expect(await failure(documentOf({ temporaryFolder: '/dev/shm' }), 'write', await versionNow())).toMatchObject({
      kind: 'fatal',
      message: expect.stringContaining('are on different file systems'),
    })
    expect(readFileSync(file, 'utf8')).toBe('first\n')
  })

  test.skipIf(!isRoot)('no permission: to read, to enter the folder, to write', async () => {
    chmodSync(folder, 0o755)
    const nobodys = documentOf({ prefix: AS_NOBODY })
    const version = await versionNow()
    expect(await failure(nobodys, 'write', version)).toMatchObject({
      kind: 'fatal',
      message: expect.stringContaining('no permission to write in the folder of'),
    })
    chmodSync(file, 0o600)
    expect(await failure(nobodys, 'read')).toMatchObject({
      kind: 'fatal',
      message: expect.stringContaining('no permission to read'),
    })
    chmodSync(file, 0o644)
    chmodSync(folder, 0o700)
    expect(await failure(nobodys, 'read')).toMatchObject({
      kind: 'fatal',
      message: expect.stringContaining('no permission to read'),
    })
    expect(readFileSync(file, 'utf8')).toBe('first\n')
  })
})
