import { expect, test } from 'vitest'
import type { SourceFault } from '../../webhook/sources/look.ts'
import type { RulesProblem, SignatureFault } from '../../webhook/sources/rules-source.ts'
import { rulesChangeWords } from './live-rules.ts'

const FAULTS: { [C in SourceFault['code']]: Extract<SourceFault, { code: C }> } = {
  unreadable: { code: 'unreadable', said: 'EACCES: permission denied' },
  'no-answer': { code: 'no-answer', said: 'connect ECONNREFUSED 127.0.0.1:1' },
  timeout: { code: 'timeout', afterMs: 10_000 },
  distrusted: { code: 'distrusted', said: 'self-signed certificate' },
  status: { code: 'status', status: 503 },
  redirect: { code: 'redirect', status: 302 },
  encoded: { code: 'encoded', encoding: 'gzip' },
  'no-field': { code: 'no-field', field: '/data/content' },
  credential: { code: 'credential', file: '/etc/token', said: 'no token on one line' },
  'api-refused': { code: 'api-refused', said: 'configmaps is forbidden' },
}
const SIGNATURE_FAULTS: Readonly<Record<SignatureFault, true>> = {
  none: true,
  wrong: true,
  unnumbered: true,
  older: true,
  reused: true,
}
const mistake = { path: 'rules[0].when', message: 'has no variable pods', hint: 'did you mean pod', line: 5, column: 9 }
const refused = {
  code: 'document-refused',
  hash: '0123456789ab',
  mistakes: [mistake, { path: '', message: 'is empty', line: 0, column: 0 }],
} as const
const PROBLEMS: { [C in RulesProblem['code']]: Extract<RulesProblem, { code: C }>[] } = {
  'source-away': Object.values(FAULTS).map((fault) => ({ code: 'source-away', sinceAt: 0, fault })),
  'document-missing': (['file', 'config-map', 'key', 'document'] as const).map((lacks) => ({
    code: 'document-missing',
    sinceAt: 0,
    lacks,
  })),
  'document-too-large': [{ code: 'document-too-large', limitBytes: 262_144 }],
  'document-refused': [refused, { ...refused, mistakes: Array.from({ length: 22 }, () => mistake) }],
  'signature-refused': (Object.keys(SIGNATURE_FAULTS) as SignatureFault[]).map((because) => ({
    code: 'signature-refused',
    hash: '0123456789ab',
    because,
  })),
  'rules-flap': [
    {
      code: 'rules-flap',
      withinMs: 600_000,
      documents: [
        { hash: '0123456789ab', version: 'v1' },
        { hash: 'ba9876543210', version: 'v2' },
      ],
    },
  ],
  'cache-unusable': [{ code: 'cache-unusable', said: 'ENOSPC: no space left on device' }],
  'cache-refused': [{ code: 'cache-refused', because: refused }],
  'cache-foreign': [
    { code: 'cache-foreign', of: 'https://rules.example/endpoint-rules' },
    { code: 'cache-foreign', of: undefined },
  ],
}

test('the words of live rules', async () => {
  const lines = [
    rulesChangeWords({ code: 'rules-accepted', version: 'v1', from: 'cache' }),
    rulesChangeWords({ code: 'rules-accepted', version: 'v2', from: 'source', replaced: 'v1' }),
    rulesChangeWords({ code: 'rules-problem-over', version: 'v2' }),
    rulesChangeWords({ code: 'rules-etag-wrong' }),
    ...Object.values(PROBLEMS)
      .flat()
      .map((problem) => rulesChangeWords({ code: 'rules-problem', problem })),
  ]
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('../../../test/golden/live-rules-words.txt')
})
