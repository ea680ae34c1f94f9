import { expect, test } from 'vitest'
import { compile, expressionProblem, literalOutcomes, usesVariable } from './expression.ts'

test.each<[string, unknown]>([
  ['entry.weight', 7],
  ['int(entry.weight) + 1', 8],
  ['string(entry.id)', '9007199254740993'],
  ['entry.?gone.orValue(3)', 3],
  ['{"z": 1, "a": {"y": entry.none, "b": 2}}', { a: { b: 2, y: null }, z: 1 }],
  ['[1, "a", true]', [1, 'a', true]],
  ['headers["etag"]', '"v1"'],
  ['entry.list.filter(x, x > 1)', [2, 3]],
])('%s', (expression, expected) => {
  const entry = { weight: 7, id: 9007199254740993n, none: null, list: [1, 2, 3] }
  const value = compile(expression, 'entry', 'f')({ entry, body: {}, headers: { etag: '"v1"' } })
  expect(JSON.stringify(value)).toBe(JSON.stringify(expected))
})

test.each<[string, string]>([
  ['entry.gone', 'No such key: gone'],
  ['entry.weight + 1', 'no such overload'],
  ['9007199254740993', 'gives the number 9007199254740993, which JSON does not hold exactly; write string(9007199254740993)'],
  ['{"id": 9007199254740993}', 'gives the number 9007199254740993, which JSON does not hold exactly; write string(…) around it'],
  ['1.0 / 0.0', 'gives the number Infinity'],
  ['timestamp("2024-01-01T00:00:00Z")', 'gives Date, which JSON does not have'],
  ['entry.?gone', 'which JSON does not have'],
  ['entry.constructor', 'No such key: constructor'],
])('%s fails, and names the field', (expression, why) => {
  const evaluate = compile(expression, 'entry', 'inspect.prior')
  expect(() => evaluate({ entry: { weight: 7 }, body: {}, headers: {} })).toThrow(`inspect.prior: ${expression}: `)
  expect(() => evaluate({ entry: { weight: 7 }, body: {}, headers: {} })).toThrow(why)
})

test('what an expression rests on is found, in macros and calls too', () => {
  expect(usesVariable('body.list.exists(x, x.id == target.id)', 'reading', ['target'])).toBe(true)
  expect(usesVariable('body.target', 'reading', ['target'])).toBe(false)
  expect(usesVariable('string(operation.id)', 'drain', ['operation'])).toBe(true)
})

test('only constants are told as outcomes', () => {
  expect(literalOutcomes('entry.a ? "in" : entry.b ? entry.c : "out"', 'reading')).toEqual(['in', 'out'])
})

test('a long expression is told in short', () => {
  expect(expressionProblem(`nope${'.x'.repeat(200)}`, 'reading', 'text')!.length).toBeLessThan(300)
})
