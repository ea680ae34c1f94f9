import { mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeTemporaryFolder, type TemporaryFolder } from '../../kube/testing/temporary-folder.ts'
import { until } from '../../kube/testing/until.ts'
import { LARGEST_DOCUMENT_BYTES } from './look.ts'
import { ruleDocument } from './testing/document.ts'
import { open, type OpenedRules } from './testing/open.ts'

let folder: TemporaryFolder
let opened: OpenedRules | undefined
let file: string

beforeEach(() => {
  folder = makeTemporaryFolder()
  file = join(folder.path, 'rules.yaml')
})
afterEach(async () => {
  await opened?.close()
  folder.remove()
})

function openFile(options: Partial<Parameters<typeof open>[0]> = {}): OpenedRules {
  return (opened = open({ from: { is: 'file', path: file }, ...options }))
}

/** Replaces the file by a rename, as an editor or a config tool does. */
function replace(text: string): void {
  renameSync(folder.write('rules.next', text), file)
}

test('a file is read, and read again after it was replaced', async () => {
  replace(ruleDocument(1))
  const rules = openFile()
  await rules.source.settled
  expect(rules.version()).toBe('1')
  replace(ruleDocument(2))
  await rules.untilVersion('2')
  expect(rules.changes).toEqual([
    { code: 'rules-accepted', version: '1', from: 'source' },
    { code: 'rules-accepted', version: '2', from: 'source', replaced: '1' },
  ])
  expect(rules.source.state()).toMatchObject({ from: 'source', rules: { version: '2' } })
})

test('a watch sees a change long before the next look', async () => {
  replace(ruleDocument(1))
  const rules = openFile({ everyMs: 3_600_000 })
  await rules.source.settled
  // The watch begins to count after the pause that follows a look.
  while (rules.version() !== '2') {
    replace(ruleDocument(2))
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  expect(rules.changes).toHaveLength(2)
})

test('a mounted ConfigMap, whose folder is swapped by a symbolic link, is followed', async () => {
  const publish = (version: number): void => {
    mkdirSync(join(folder.path, `..v${version}`))
    writeFileSync(join(folder.path, `..v${version}`, 'rules.yaml'), ruleDocument(version))
    symlinkSync(`..v${version}`, join(folder.path, '..data.next'))
    renameSync(join(folder.path, '..data.next'), join(folder.path, '..data'))
    rmSync(join(folder.path, `..v${version - 1}`), { recursive: true, force: true })
  }
  publish(1)
  symlinkSync('..data/rules.yaml', file)
  const rules = openFile()
  await rules.untilVersion('1')
  for (const version of [2, 3, 4]) {
    publish(version)
    await rules.untilVersion(String(version))
  }
  expect(rules.changes.map(({ code }) => code)).toEqual(Array(4).fill('rules-accepted'))
})

test('a file in the middle of a write does not count, though its beginning would be a whole document', async () => {
  replace(ruleDocument(1))
  const rules = openFile()
  await rules.untilVersion('1')
  const whole = ruleDocument(2, 60)
  const lines = whole.split('\n')
  for (let written = 5; written <= lines.length; written += 1) {
    writeFileSync(file, lines.slice(0, written).join('\n'))
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(rules.version()).toBe('1')
  }
  await rules.untilVersion('2')
  expect(rules.source.current()!.rules).toHaveLength(60)
})

test('rules stay in force while the file is empty, wrong, no text, too large, a folder, or away, and each is told once', async () => {
  replace(ruleDocument(1))
  const rules = openFile()
  await rules.untilVersion('1')
  const before = rules.source.current()

  truncateSync(file)
  await rules.untilProblem('document-refused')
  expect(rules.source.problem()).toMatchObject({ mistakes: [{ message: expect.any(String) }] })
  writeFileSync(file, Buffer.from([0xff, 0xfe, 0x00]))
  await until(() => rules.changes.length === 3)
  expect(rules.problemCode()).toBe('document-refused')
  writeFileSync(file, Buffer.alloc(LARGEST_DOCUMENT_BYTES + 1, '#'))
  await rules.untilProblem('document-too-large')
  unlinkSync(file)
  await rules.untilProblem('document-missing')
  expect(rules.source.problem()).toMatchObject({ lacks: 'file' })
  mkdirSync(file)
  await rules.untilProblem('source-away')
  rmSync(folder.path, { recursive: true })
  await rules.untilProblem('document-missing')
  expect(rules.source.current()).toBe(before)
  const { unconfirmedMs } = rules.source.state()
  await until(() => rules.source.state().unconfirmedMs > unconfirmedMs)

  mkdirSync(folder.path)
  replace(ruleDocument(1))
  await rules.untilProblem(undefined)
  expect(rules.source.current()).toBe(before)
  expect(rules.changes.map((change) => (change.code === 'rules-problem' ? change.problem.code : change.code))).toEqual([
    'rules-accepted',
    'document-refused',
    'document-refused',
    'document-too-large',
    'document-missing',
    'source-away',
    'document-missing',
    'rules-problem-over',
  ])
  // The folder is another one now, and its watch is new.
  replace(ruleDocument(2))
  await rules.untilVersion('2')
})

test('without any acceptable version, there are no rules, and the time counts from the beginning', async () => {
  const rules = openFile()
  await rules.source.settled
  expect(rules.source.current()).toBeUndefined()
  expect(rules.source.state()).toMatchObject({ problem: { code: 'document-missing' } })
  expect(rules.source.state().unconfirmedMs).toBeGreaterThan(0)
  replace(ruleDocument(1))
  await rules.untilVersion('1')
  expect(rules.problemCode()).toBeUndefined()
})

test('the signal ends a source in the middle of a look', async () => {
  replace(ruleDocument(1))
  const rules = openFile()
  await rules.close()
  await rules.source.settled
  replace(ruleDocument(2))
  expect(rules.version()).toBeUndefined()
})
