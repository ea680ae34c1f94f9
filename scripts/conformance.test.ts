import { expect, test } from 'vitest'
import { lineText, linesOf, totalText } from './conformance.ts'

test('a line for each adapter and product, and the sum of all', () => {
  const assertion = (ancestorTitles: string[], status: 'passed' | 'failed' | 'pending') => ({
    ancestorTitles,
    title: 'x',
    status,
  })
  const lines = linesOf({
    testResults: [
      {
        name: 'nginx',
        message: '',
        assertionResults: [
          assertion(['', 'nginx 1.31.3', 'nginx keeps the contract'], 'passed'),
          assertion(['', 'nginx 1.31.3', 'nginx keeps the contract'], 'pending'),
          assertion(['', 'nginx 1.31.3', 'nginx: an adapter fails that'], 'passed'),
          assertion(['', 'nginx 1.22.1', 'nginx keeps the contract'], 'failed'),
          assertion(['', 'something else'], 'passed'),
        ],
      },
      { name: 'f5', message: '', assertionResults: [assertion(['f5, as documented keeps the contract'], 'passed')] },
      { name: 'http', message: '', assertionResults: [assertion(['http, reading the list keeps the contract'], 'passed')] },
    ],
  })
  expect(lines.map((line) => lineText(line, 20))).toEqual([
    'nginx, nginx 1.31.3   real        1 passed, 0 failed, 1 not applicable, 1 wrong adapters caught',
    'nginx, nginx 1.22.1   real        0 passed, 1 failed, 0 not applicable, 0 wrong adapters caught',
    'f5                    documented  1 passed, 0 failed, 0 not applicable, 0 wrong adapters caught',
    'http, reading the list  example     1 passed, 0 failed, 0 not applicable, 0 wrong adapters caught',
  ])
  expect(totalText(lines)).toBe('4 adapters, 3 cases passed, 1 failed, 1 skipped')
})
