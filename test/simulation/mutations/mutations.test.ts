import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { mutate } from './mutation.ts'
import { MUTATIONS } from './mutations.ts'

test.each(MUTATIONS)('$name still breaks something: $breaks', ({ name, changes }) => {
  for (const file of new Set(changes.map((change) => change.file))) {
    const source = readFileSync(file, 'utf8')
    const own = changes.filter((change) => change.file === file)
    expect(mutate(name, own, source)).not.toBe(source)
  }
})

test('control: a text that is gone, or stands twice, is refused', () => {
  const change = { file: 'a.ts', find: 'x', replace: 'y' }
  expect(() => mutate('one', [change], 'a')).toThrow('its text stands 0 times in a.ts')
  expect(() => mutate('one', [change], 'x x')).toThrow('its text stands 2 times in a.ts')
  expect(mutate('one', [change], 'a x')).toBe('a y')
})
