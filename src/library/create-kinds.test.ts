import { expect, test } from 'vitest'
import { byAddress } from '../pods/heir.ts'
import { KINDS } from '../workloads/kinds/index.ts'
import type { Kind } from '../workloads/kinds/kind.ts'
import { revisionedRights } from '../workloads/kinds/revisioned-rights.ts'
import { statefulSet } from '../workloads/kinds/stateful-set.ts'
import { createKinds } from './create-kinds.ts'
import { RequestError } from './request/request-error.ts'
import { parseRef } from './request/selection.ts'

const NAMES = { group: 'apps.example.dev', version: 'v1', kind: 'CloneSet', plural: 'clonesets' }
const cloneSet: Kind = {
  ...NAMES,
  shortNames: ['clone'],
  mechanism: statefulSet.mechanism!,
  isHeir: byAddress,
  first: 'lowest',
  rights: revisionedRights(NAMES),
}

function fieldsOf(all: unknown): string[] {
  try {
    createKinds(all as readonly Kind[])
  } catch (error) {
    if (error instanceof RequestError) return error.issues.map(({ field }) => field)
    throw error
  }
  return []
}

test.each<[string, unknown, string[]]>([
  ['no list', cloneSet, ['kinds']],
  ['none', [], ['kinds']],
  ['no kind', ['clonesets'], ['kinds[0]']],
  ...(['group', 'version', 'kind', 'plural', 'shortNames', 'isHeir', 'first', 'rights'] as const).map(
    (field): [string, unknown, string[]] => {
      const { [field]: _, ...rest } = cloneSet
      return [`no ${field}`, [...KINDS.all, rest], [`kinds[4].${field}`]]
    },
  ),
  ['a kind in lower case', [{ ...cloneSet, kind: 'cloneset' }], ['kinds[0].kind']],
  ['a mechanism', [{ ...cloneSet, mechanism: { type: 'recreate' } }], ['kinds[0].mechanism.type']],
  [
    'no rules',
    [{ ...cloneSet, mechanism: { type: 'revisioned', revisions: {} } }],
    ['desired', 'replaces', 'podLabel', 'updateRevision'].map((rule) => `kinds[0].mechanism.revisions.${rule}`),
  ],
  [
    'a right without verbs',
    [{ ...cloneSet, rights: [{ group: '', resource: 'pods', verbs: [], why: '' }] }],
    ['kinds[0].rights[0].verbs'],
  ],
  ['a mistyped field', [{ ...cloneSet, shortName: [] }], ['kinds[0].shortName']],
  ['a kind twice', [...KINDS.all, cloneSet, { ...cloneSet, version: 'v2' }], ['kinds[5]']],
  ['a short name of another one', [...KINDS.all, { ...cloneSet, shortNames: ['clone', 'sts'] }], ['kinds[4].shortNames[1]']],
  // Controls.
  ['nothing that is wrong', [...KINDS.all, cloneSet], []],
  [
    'nothing of a namesake in another group',
    [...KINDS.all, { ...statefulSet, group: 'apps.example.dev', shortNames: ['asts'] }],
    [],
  ],
])('refuses %s by its field', (_what, all, fields) => {
  expect(fieldsOf(all)).toEqual(fields)
})

test('what is known is listed, however many there are', () => {
  const problem = (kinds: Kind[]): string => JSON.stringify(parseRef('gizmoset/web', { kinds: createKinds(kinds) }))
  expect(problem([cloneSet])).toContain('known is clonesets.apps.example.dev"')
  expect(problem([...KINDS.all, cloneSet])).toContain('deployment and clonesets.apps.example.dev"')
})
