import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Report } from '../../report/report.ts'
import { createWriting } from '../../report/words/words.ts'
import { parseReportFiles, writeReportFiles, type UnwrittenFile } from './report-files.ts'

const asJson = { page: undefined, write: createWriting() }
const report = { kind: 'Report', run: 'r7' } as unknown as Report

let folder = ''
const at = (...names: string[]): string => join(folder, ...names)
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-report-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function write(...paths: string[]): UnwrittenFile[] {
  return writeReportFiles(parseReportFiles(paths), report, asJson)
}

describe('a report that goes to a link', () => {
  test.each([
    ['a file', 'there/report.json', () => writeFileSync(at('there/report.json'), 'of the last run')],
    ['a file that is not there yet', 'there/report.json', () => {}],
    ['another link', 'link', () => symlinkSync('there/report.json', at('link'))],
  ])('to %s is in the file', (_name, target, make) => {
    mkdirSync(at('there'))
    make()
    symlinkSync(target, at('report.json'))
    expect(write(at('report.json'))).toEqual([])
    expect(lstatSync(at('report.json')).isSymbolicLink()).toBe(true)
    expect(JSON.parse(readFileSync(at('there/report.json'), 'utf8'))).toEqual(report)
    expect(lstatSync(at('there/report.json')).isFile()).toBe(true)
    expect(readdirSync(at('there'))).toEqual(['report.json'])
  })

  test('to a folder that is not there is refused before the run', () => {
    symlinkSync('none/report.json', at('report.json'))
    expect(() => parseReportFiles([at('report.json')])).toThrow('it cannot be written there (ENOENT: no such file or directory)')
  })
})

test('a folder that has become a file meanwhile: the others are written, and no file is named that nobody has asked for', () => {
  mkdirSync(at('gone'))
  const files = parseReportFiles([at('gone/report.json'), at('report.json')])
  rmSync(at('gone'), { recursive: true })
  writeFileSync(at('gone'), '')
  expect(writeReportFiles(files, report, asJson)).toEqual([{ path: at('gone/report.json'), message: 'ENOTDIR: not a directory' }])
  expect(JSON.parse(readFileSync(at('report.json'), 'utf8'))).toEqual(report)
})

test('a file that has become a folder meanwhile: nothing is left beside it', () => {
  const files = parseReportFiles([at('report.json')])
  mkdirSync(at('report.json'))
  const [unwritten] = writeReportFiles(files, report, asJson)
  expect(unwritten?.message).toMatch(/^E\w+: [a-z ]+$/)
  expect(readdirSync(folder)).toEqual(['report.json'])
})
