import { expect, test } from 'vitest'
import { compileBody, compileText, parseTemplate } from './template.ts'

const target = { id: 'a"b/ü', address: 'h:80', host: 'h', port: 80n, scope: 'all' }
const values = { target, operation: { id: 'op', fence: 3n }, prior: { weight: 7, state: null, list: [1, { x: true }] } }

test.each([
  ['plain', ['plain']],
  ['a${x}b', ['a', { expression: 'x' }, 'b']],
  ['${ x }${y}', [{ expression: 'x' }, { expression: 'y' }]],
  ['${{"a": {"b": "}"}}}', [{ expression: '{"a": {"b": "}"}}' }]],
  [`\${'it\\'s }'}`, [{ expression: `'it\\'s }'` }]],
  ['$${x} $5 ${x}', ['${x} $5 ', { expression: 'x' }]],
  ['', []],
])('%s has its parts', (text, parts) => {
  expect(parseTemplate(text)).toEqual({ ok: true, parts })
})

test.each(['${', 'a${x', '${"}'])('%s is not closed', (text) => {
  expect(parseTemplate(text)).toMatchObject({ ok: false })
})

test('a body keeps the kinds of its values, and its keys', () => {
  const body = { '${key}': ['${prior.weight}', 'w=${prior.weight}', 5, null, true], all: '${prior}', port: '${target.port}' }
  expect(compileBody(body, 'restore', 'restore.body')(values)).toEqual({
    '${key}': [7, 'w=7', 5, null, true],
    all: { list: [1, { x: true }], state: null, weight: 7 },
    port: 80,
  })
})

test('what stands in text is encoded, and what is written there is not', () => {
  const text = compileText('/x/${target.id}?a=/', 'restore', 'f', encodeURIComponent)
  expect(text(values)).toBe('/x/a%22b%2F%C3%BC?a=/')
})

test.each(['${prior.state}', '${prior.list}', '${prior.gone}', '${prior.weight + 1}'])('%s cannot stand in text', (text) => {
  expect(() => compileText(`x${text}`, 'restore', 'restore.path')(values)).toThrow(/^restore\.path: /)
})
