import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createScheduler } from './scheduler.ts'

const ALL = { done: () => false, untilMs: Infinity, mostTurns: 1_000 }

test('a turn begins when every promise of the one before has come to rest', async () => {
  const scheduler = createScheduler()
  const seen: string[] = []
  scheduler.after(1, () => {
    void (async () => {
      for (let step = 0; step < 100; step++) await undefined
      seen.push('the first is at its end')
    })()
  })
  scheduler.after(1, () => void seen.push('the second begins'))
  await scheduler.run(ALL)
  expect(seen).toEqual(['the first is at its end', 'the second begins'])
})

test.each([
  ['a rejection that nobody catches ends the process', "Promise.reject(new Error('not caught'))", 1],
  ['one that is caught does not', "Promise.reject(new Error('not caught')).catch(() => {})", 0],
])('%s', (_, what, code) => {
  const turns = `for (let turn = 0; turn < 100; turn++) scheduler.after(turn, () => turn === 50 && void ${what})`
  const program = `
    import { createScheduler } from ${JSON.stringify(join(import.meta.dirname, 'scheduler.ts'))}
    const scheduler = createScheduler()
    ${turns}
    await scheduler.run({ done: () => false, untilMs: 1_000, mostTurns: 1_000 })
    process.exit(0)`
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  expect({ status, isSaid: stderr.includes('not caught') }).toEqual({ status: code, isSaid: code === 1 })
})
