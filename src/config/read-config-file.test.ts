import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, symlinkSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { ConfigError } from './config-error.ts'
import { readConfigFile } from './read-config-file.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-config-file-'))
  writeFileSync(join(folder, 'file'), 'a: 1\n')
  mkdirSync(join(folder, 'folder'))
  symlinkSync('file', join(folder, 'link'))
  symlinkSync('circle', join(folder, 'circle'))
  execFileSync('mkfifo', [join(folder, 'pipe')])
})
afterAll(() => rmSync(folder, { recursive: true }))

const cleanups: (() => unknown)[] = []
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup()
})

async function textOf(file: string, options?: { pipeDeadlineMs: number }): Promise<string> {
  return new TextDecoder().decode(await readConfigFile(file, options))
}

async function refusal(file: string, options?: { pipeDeadlineMs: number }): Promise<string> {
  const error: unknown = await readConfigFile(file, options).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(ConfigError)
  return (error as ConfigError).message.replaceAll(`${folder}/`, '')
}

/** A pipe with `text` in it, under the name that a shell gives to `<(COMMAND)`; `end` is the end of the command. */
function pipeWith(text: string): { name: string; end(): void } {
  const path = join(folder, 'printed')
  execFileSync('mkfifo', [path])
  // Opening a pipe for reading and writing never blocks.
  const writer = openSync(path, 'r+')
  const reader = openSync(path, 'r')
  rmSync(path)
  writeSync(writer, text)
  cleanups.push(() => closeSync(reader))
  return { name: `/dev/fd/${reader}`, end: () => closeSync(writer) }
}

test('a file, and a link to one', async () => {
  expect(await textOf(join(folder, 'file'))).toBe('a: 1\n')
  expect(await textOf(join(folder, 'link'))).toBe('a: 1\n')
})

test.each<[string, string]>([
  ['none', 'none: there is no such file\n    name the config with --config FILE'],
  ['file/sluice.yaml', 'file/sluice.yaml: there is no such file: a part of its path is a file, not a directory\n    name'],
  ['circle', 'circle: leads nowhere: its symbolic links go round in a circle\n    name the config'],
  ['folder', 'folder: is a directory\n    name the config'],
  ['pipe', 'pipe: is no regular file but a pipe, a socket or a device\n    write the config into a file'],
  ['a\nb', 'a\\nb": there is no such file\n    name the config'],
])('%j is refused in words', async (name, expected) => {
  expect(await refusal(join(folder, name))).toContain(expected)
})

test('no name, and a device', async () => {
  expect(await refusal('')).toContain('"": is no name of a file\n    name the config with --config FILE')
  expect(await refusal('/dev/zero')).toContain('/dev/zero: is no regular file but a pipe, a socket or a device\n    write')
})

test('what a command prints is read to its end', async () => {
  const pipe = pipeWith('a: 1\n')
  const text = textOf(pipe.name)
  pipe.end()
  expect(await text).toBe('a: 1\n')
})

test('what never ends is given up', async () => {
  const pipe = pipeWith('a: 1\n')
  expect(await refusal(pipe.name, { pipeDeadlineMs: 40 })).toContain('has not come to its end within 0.04s\n    write the config')
  pipe.end()
})

test('of what is too long no more is read than a config may have', async () => {
  const zero = openSync('/dev/zero', 'r')
  cleanups.push(() => closeSync(zero))
  expect(await refusal(`/proc/self/fd/${zero}`)).toContain('is longer than the 262144 bytes that a config may have\n    is this')
})
