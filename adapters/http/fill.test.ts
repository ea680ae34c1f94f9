import { expect, test } from 'vitest'
import { compile } from './expression.ts'
import { fill, type Filling, usesOf } from './fill.ts'
import { compileBody, compileText } from './template.ts'

function filling(values: Record<string, unknown>, over: Partial<Filling> = {}): Filling {
  return { values, isPath: () => false, isInteger: () => false, ...over }
}

const HOSTILE = ['a"b', "a'b", 'a\\', '") || true || ("', '${target.id}', '$(other)', '$$(x)', 'a\nb', '}', '☃\u2028']

test.each(HOSTILE)('%j is the same text in CEL, whatever is in it', (value) => {
  const { targets } = fill({ targets: { id: '$(x)' } }, filling({ x: value })) as { targets: { id: string } }
  expect(compile(targets.id, 'entry', 'id')({})).toBe(value)
})

test.each(HOSTILE)('%j is the same text in a body, within an expression, and in a header', (value) => {
  const options = { drain: { body: { whole: '$(x)', part: 'a $(x) b', cel: '${"a " + $(x)}' }, headers: { 'X-A': 'a $(x)' } } }
  const { drain } = fill(options, filling({ x: value })) as typeof options
  expect(compileBody(drain.body, 'nothing', 'body')({})).toEqual({ whole: value, part: `a ${value} b`, cel: `a ${value}` })
  expect(compileText(drain.headers['X-A'], 'nothing', 'header')({})).toBe(`a ${value}`)
})

test('in a path a value is one name, unless it is a path itself', () => {
  const options = { drain: { path: '/p/$(x)/${target.id}?q=$(x)' } }
  const filled = (values: Record<string, unknown>, isPath = false): unknown =>
    fill(options, filling(values, { isPath: () => isPath }))
  expect(filled({ x: 'a/b?c&d' })).toEqual({ drain: { path: '/p/a%2Fb%3Fc%26d/${target.id}?q=a%2Fb%3Fc%26d' } })
  expect(filled({ x: 'a/b c' }, true)).toEqual({ drain: { path: '/p/a/b%20c/${target.id}?q=a/b%20c' } })
})

test('a name of a document is no sign of what stands in it', () => {
  const options = { inspect: { also: { headers: { path: '/$(x)' }, body: { path: '/$(x)', headers: { A: '$(x)' } } } } }
  expect(fill(options, filling({ x: 'a/b' }))).toEqual({
    inspect: { also: { headers: { path: '/a%2Fb' }, body: { path: '/a%2Fb', headers: { A: 'a/b' } } } },
  })
})

test('a parameter in the place of a name is refused', () => {
  expect(usesOf({ drain: { body: { '$(x)': 1 } } })).toMatchObject([
    { problem: expect.stringContaining('has a parameter in its name') },
  ])
})

test('a number stays a number, in a body and in CEL', () => {
  const options = {
    drain: { body: { weight: '$(x)' } },
    inspect: { weight: '$(x)', admin: 'int(entry.weight) > $(x) ? "in" : "out"' },
  }
  expect(fill(options, filling({ x: -2 }, { isInteger: () => true }))).toEqual({
    drain: { body: { weight: -2 } },
    inspect: { weight: '(-2)', admin: 'int(entry.weight) > (-2) ? "in" : "out"' },
  })
  expect(fill(options.inspect, filling({ x: 3 }), ['inspect'])).toMatchObject({ weight: '3.0' })
})

test('a field that is a parameter without a value is left out; in CEL it is null', () => {
  const options = { headers: { 'X-N': '$(x)' }, failover: { urls: ['$(x)'] }, inspect: { prior: '$(x)' }, tls: { ca: '$(x)' } }
  expect(fill(options, filling({}))).toEqual({ headers: {}, failover: { urls: [] }, inspect: { prior: 'null' }, tls: {} })
})

test('$$( stands for $( itself, and ${ stays what it is', () => {
  const options = { drain: { body: 'a $$(x) $${y} ${target.id}' }, inspect: { admin: '"$$(x)"' } }
  expect(fill(options, filling({ x: 1 }))).toEqual({ drain: { body: 'a $(x) $${y} ${target.id}' }, inspect: { admin: '"$(x)"' } })
})

test.each([
  ['"a $(x)"', '$(x) stands within quotes'],
  ["'it\\'s $(x)'", '$(x) stands within quotes'],
  ['r"\\" + $(x)', undefined],
  ['"""a "$(x)" b"""', '$(x) stands within quotes'],
  ['"a" + $(x)', undefined],
  ['$(x y)', 'has $( without the name of a parameter'],
])('in CEL, %s: %s', (text, problem) => {
  expect(usesOf({ inspect: { admin: text } }).map((use) => use.problem?.split('\n')[0])).toEqual([problem])
})
