import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openRecording } from './recording-file.ts'

function place(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-recording-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'recording.jsonl')
}

test('a recording is a new file, of its user alone', async () => {
  const file = place()
  const recording = await openRecording(file, () => {})
  recording.write({ type: 'end' })
  expect(await recording.close()).toBe(true)
  expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual(['{"type":"end"}\n', 0o600])
})

test('an older recording is not written over', async () => {
  const file = place()
  writeFileSync(file, 'older')
  chmodSync(file, 0o644)
  await expect(openRecording(file, () => {})).rejects.toThrow('EEXIST')
  expect(readFileSync(file, 'utf8')).toBe('older')
})

test('a device takes one', async () => {
  const recording = await openRecording('/dev/null', () => {})
  recording.write({})
  expect(await recording.close()).toBe(true)
})

test('a disk that is too slow loses it, once, and keeps the process from growing', async () => {
  const lost: string[] = []
  const recording = await openRecording(place(), ({ message }) => lost.push(message))
  const line = { text: 'x'.repeat(2 ** 20) }
  // The event loop does not run in between, so that nothing reaches the disk.
  for (let count = 0; count < 70; count += 1) recording.write(line)
  expect(await recording.close()).toBe(false)
  recording.write(line)
  expect(lost).toEqual(['the disk is slower than what is observed'])
})
