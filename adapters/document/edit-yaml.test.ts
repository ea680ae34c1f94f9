import { describe, expect, test } from 'vitest'
import { changeFields, openYaml, readYaml, YamlError } from './edit-yaml.ts'

const BLOCK = `# The pods of web.
servers:
  - url: http://10.0.0.1:8080 # the first
    weight: 3   # since May
  # The next one is old.
  - url: "http://10.0.0.2:8080"
  - {url: 'http://10.0.0.3:8080', weight: 2}
  - state: UP # for now
    # Where it is.
    url: http://10.0.0.4:8080

unknown: [1, 2,   3]
`

const JSON_TEXT = `{
  "servers": [
    {
      "url": "http://10.0.0.1:8080"
    },
    {"url": "http://10.0.0.2:8080", "weight": 1}
  ]
}
`

function server(index: number) {
  return ['servers', index]
}

describe('a field', () => {
  test('that is there gets another value, and no other character changes', () => {
    const changed = changeFields(BLOCK, [{ map: server(0), field: 'weight', to: 0 }])
    expect(changed).toBe(BLOCK.replace('weight: 3   #', 'weight: 0   #'))
  })

  test.each([
    ['after a comment', 1, '  - url: "http', '  - note: 0\n    url: "http'],
    ['of a flow map', 2, '{url:', '{note: 0, url:'],
  ] as const)('that is not there is added before the others: %s', (_, index, before, after) => {
    const change = { map: server(index), field: 'note', to: 0 }
    const changed = changeFields(BLOCK, [change])
    expect(changed).toBe(BLOCK.replace(before, after))
    expect(changeFields(changed, [{ ...change, to: undefined }])).toBe(BLOCK)
  })

  test('is removed with its line, or to the next field after a dash', () => {
    expect(changeFields(BLOCK, [{ map: server(0), field: 'weight', to: undefined }])).toBe(
      BLOCK.replace('    weight: 3   # since May\n', ''),
    )
    expect(changeFields(BLOCK, [{ map: server(3), field: 'state', to: undefined }])).toBe(
      BLOCK.replace('state: UP # for now\n    # Where', '# Where'),
    )
    expect(changeFields(BLOCK, [{ map: server(2), field: 'weight', to: undefined }])).toBe(BLOCK.replace(', weight: 2}', '}'))
  })

  test('several of them in one text, with the line ends that it has', () => {
    const text = BLOCK.replaceAll('\n', '\r\n')
    const changes = [0, 1, 2, 3].map((index) => ({ map: server(index), field: 'note', to: 'DRAINING' }))
    const changed = changeFields(text, changes)
    expect(changed.match(/note: DRAINING/g)?.length).toBe(4)
    expect(changed.replaceAll('\r\n', '')).not.toContain('\n')
    expect(
      changeFields(
        changed,
        changes.map((change) => ({ ...change, to: undefined })),
      ),
    ).toBe(text)
  })

  test('of JSON stays JSON', () => {
    const changes = [0, 1].map((index) => ({ map: server(index), field: 'state', to: 'DRAINING' }))
    const changed = changeFields(JSON_TEXT, changes)
    expect(changed).toContain('    {\n      "state": "DRAINING",\n      "url"')
    expect(changed).toContain('{"state": "DRAINING", "url"')
    expect(JSON.parse(changed).servers[0]).toEqual({ state: 'DRAINING', url: 'http://10.0.0.1:8080' })
    expect(
      changeFields(
        changed,
        changes.map((change) => ({ ...change, to: undefined })),
      ),
    ).toBe(JSON_TEXT)
  })

  test.each(['yes', 'on', '12', 'a: b', '', '# no'])('with the text %j reads as that text', (value) => {
    const changed = changeFields(BLOCK, [{ map: server(1), field: 'note', to: value }])
    expect((readYaml(changed) as { servers: { note?: unknown }[] }).servers[1]?.note).toBe(value)
  })
})

test('a value is read as it is written, and written back so', () => {
  const text = "servers:\n  - {url: x, weight: '03' } # three\n"
  const { value, writingOf } = openYaml(text)
  expect(value).toEqual({ servers: [{ url: 'x', weight: '03' }] })
  expect(writingOf(server(0), 'weight')).toBe("'03'")
  expect(writingOf(server(0), 'note')).toBeUndefined()
  const change = { map: server(0), field: 'weight' }
  const changed = changeFields(text, [{ ...change, to: { written: '0' } }])
  expect(changed).toBe(text.replace("'03'", '0'))
  expect(changeFields(changed, [{ ...change, to: { written: "'03'" } }])).toBe(text)
})

describe('what cannot be changed in place is refused', () => {
  const ALIAS = 'a: &a {url: x, weight: 1}\nservers: [*a, {url: y}]\n'

  test('a map that an alias stands for', () => {
    expect(() => changeFields(ALIAS, [{ map: server(0), field: 'weight', to: 0 }])).toThrow('servers.0.weight cannot be changed')
  })

  test('a map that an alias elsewhere repeats', () => {
    const change = { map: ['a'], field: 'weight', to: 0 }
    expect(() => changeFields(ALIAS, [change])).toThrow('a.weight cannot be changed')
  })

  test.each([
    ['a: 1\n---\nb: 2\n', 'several documents'],
    ['', 'empty'],
    ['a: [1, 2', 'line 1'],
  ])('%j', (text, why) => {
    expect(() => changeFields(text, [])).toThrow(YamlError)
    expect(() => readYaml(text)).toThrow(why)
  })
})
