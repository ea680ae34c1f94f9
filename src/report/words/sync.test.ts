import { expect, test } from 'vitest'
import type { AwayReason } from '../../sync/model.ts'
import type {
  SourceProblem,
  SourceProblemCode,
  SourceProblemFields,
  SyncProblem,
  SyncProblemCode,
  SyncProblemFields,
} from '../../sync/problems.ts'
import type { SyncEvent } from '../../sync/sync-run.ts'
import {
  leftBehindHint,
  leftBehindMessage,
  problemHint,
  problemMessage,
  sourceProblemHint,
  sourceProblemMessage,
  syncEventWords,
} from './sync.ts'
import { createWriting } from './words.ts'

const write = createWriting()
const because = { code: 'error', said: 'no answer' } as const
const of = { namespace: 'shop', name: 'web' }
const AWAY: AwayReason[] = [
  { is: 'unconnected', because },
  { is: 'unanswered', because },
  { is: 'refused', what: 'endpointslices', because },
]

/** The type requires a sample of each code. */
const PROBLEMS: { [C in SyncProblemCode]: SyncProblemFields[C][] } = {
  'namespace-missing': [{}],
  'service-missing': [{}],
  'service-unmade': [{}],
  'service-has-selector': [{ selector: { app: 'web', tier: 'front' } }],
  'service-external-name': [{}],
  'ports-unserved': [
    { source: 'east', ports: ['grpc'], has: ['http', 'metrics'] },
    { source: 'east', ports: [''], has: ['http'] },
    { source: 'east', ports: ['http', ''], has: [] },
  ],
  'family-unserved': [{ source: 'east', family: 'IPv6', count: 3 }],
  'source-external-name': [{ source: 'east' }],
  'ports-differ': [
    { source: 'west', ports: ['http 80/TCP', 'metrics 9090/TCP'], first: 'east', firstPorts: ['80/TCP'] },
    { source: 'west', ports: [], first: 'east', firstPorts: ['80/TCP'] },
  ],
  'addresses-twice': [
    { source: 'west', first: 'east', addresses: ['10.0.0.1'], count: 1 },
    { source: 'west', first: 'east', addresses: ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5'], count: 40 },
  ],
  'addresses-uncopied': [
    { source: 'east', slices: ['web-abcde'] },
    { source: 'east', slices: ['web-abcde', 'web-fghij'] },
  ],
  'source-without': [
    { source: 'east', lacks: 'namespace' },
    { source: 'east', lacks: 'service' },
  ],
  'source-unnamed': [{ source: 'east', slices: ['web-east-0'], unknown: ['eastern'] }],
  'source-away': AWAY.map((one) => ({ source: 'east', because: one })),
  'source-expired': [{ source: 'east' }],
  'kept-for-floor': [
    { source: 'east', ready: 1, floor: 3 },
    { source: 'east', ready: 0, floor: 3 },
  ],
  'source-replaced': [{ source: 'east' }],
  'foreign-slice': [{ slice: 'web-east-0' }, { slice: 'web-east-0', manager: 'kubectl' }],
  'other-sync': [{ instance: 'sync/other', slices: ['web-east-0'] }],
  'altered-by-admission': [{ slices: ['web-east-0'] }],
  'write-failed': [{ because }, { slice: 'web-east-0', because }],
}
const SOURCE_PROBLEMS: { [C in SourceProblemCode]: SourceProblemFields[C] } = {
  'pods-unread': { because },
  'identity-unread': { because },
}
const slice = { namespace: 'shop', service: 'web', source: 'east', slice: 'web-east-0' }
const EVENTS: SyncEvent[] = [
  { type: 'leader', isLeader: true },
  { type: 'leader', isLeader: false },
  { type: 'lease-awaited', lease: 'sluice-sync/sluice-sync', afterMs: 16_000 },
  { type: 'lease-failed', lease: 'sluice-sync/sluice-sync', because },
  { type: 'source', source: 'east', is: 'current' },
  { type: 'source', source: 'east', is: 'away', because: AWAY[1]! },
  { type: 'access', is: 'away', because },
  { type: 'written', effect: 'update', endpoints: 1, ...slice },
  { type: 'written', effect: 'create', endpoints: 100, lag: { sourceMs: 3, decideMs: 1, sendMs: 2, acceptMs: 7 }, ...slice },
  { type: 'write-failed', effect: 'delete', because, againInMs: 500, ...slice },
  { type: 'put-right', was: 'deleted', ...slice },
  { type: 'service-made', namespace: 'shop', service: 'web', from: 'east' },
  { type: 'problem', is: 'begun', namespace: 'shop', service: 'web', problem: { code: 'source-expired', source: 'east' } },
  { type: 'problem', is: 'over', namespace: 'shop', service: 'web', problem: { code: 'source-expired', source: 'east' } },
  { type: 'source-problem', is: 'begun', source: 'east', problem: { code: 'pods-unread', because } },
]

test('the words of sync', async () => {
  const problems = Object.entries(PROBLEMS).flatMap(([code, samples]) =>
    samples.flatMap((fields) => {
      const problem = { code, ...fields } as SyncProblem
      return [`${code}: ${problemMessage(problem, of, write)}`, `  ${problemHint(problem, of, write)}`]
    }),
  )
  const ofSources = Object.entries(SOURCE_PROBLEMS).flatMap(([code, fields]) => {
    const problem = { code, ...fields } as SourceProblem
    return [`${code}: ${sourceProblemMessage(problem, write)}`, `  ${sourceProblemHint(problem, write)}`]
  })
  const left = { namespace: 'shop', service: 'web', slices: ['web-east-0', 'web-west-0'] }
  const leftBehind = [leftBehindMessage(left), `  ${leftBehindHint(left)}`]
  const events = EVENTS.map((event) => syncEventWords(event, write))
  await expect(`${[...problems, ...ofSources, ...leftBehind, ...events].join('\n')}\n`).toMatchFileSnapshot(
    '../../../test/golden/sync-words.txt',
  )
})
