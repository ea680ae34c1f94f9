import { expect, test } from 'vitest'
import { parseMetrics } from './parse-metrics.ts'

test('each kind of family is read', () => {
  const families = parseMetrics(`# HELP a What it is.
# TYPE a counter
a{x="1",y="q\\"\\\\"} 5
a 1e-08
# TYPE b histogram
b_bucket{le="+Inf"} 2
b_sum 3.5
b_count 2
# TYPE c summary
c{quantile="0.5"} NaN
`)
  expect([...families.keys()]).toEqual(['a', 'b', 'c'])
  expect(families.get('a')!.samples).toEqual([
    { name: 'a', labels: { x: '1', y: 'q"\\' }, value: 5 },
    { name: 'a', labels: {}, value: 1e-8 },
  ])
  expect(families.get('c')!.samples[0]!.value).toBeNaN()
})

test.each([
  ['a 1\n', 'no type before: a 1'],
  ['# TYPE a counter\nb 1\n', 'no type before: b 1'],
  ['# TYPE a histogram\na 1\n', 'no type before: a 1'],
  ['# TYPE a counter\na{x=1} 1\n', 'not a sample: a{x=1} 1'],
  ['# TYPE a counter\na x\n', 'no number: a x'],
  ['# TYPE a counter\na 1', 'the text does not end with its last line'],
  ['# TYPE a counter\n# TYPE a counter\n', 'two families a'],
])('%j is refused', (text, problem) => {
  expect(() => parseMetrics(text)).toThrow(problem)
})
