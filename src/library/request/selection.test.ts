import { expect, test } from 'vitest'
import { KINDS } from '../../workloads/kinds/index.ts'
import type { Kind } from '../../workloads/kinds/kind.ts'
import { createKinds } from '../../workloads/kinds/kinds.ts'
import { statefulSet } from '../../workloads/kinds/stateful-set.ts'
import { parseRef } from './selection.ts'

const cloneSet: Kind = { ...statefulSet, group: 'apps.example.dev', kind: 'CloneSet', plural: 'clonesets', shortNames: ['clone'] }
const kinds = createKinds([...KINDS.all, cloneSet])

test('a kind that was added is read by all of its names, and takes the place of the words for one that is refused', () => {
  const { group, version, kind, plural } = cloneSet
  for (const type of ['cloneset', 'clone', 'clonesets.apps.example.dev', 'CloneSet.v1.apps.example.dev'])
    expect(parseRef(`${type}/web`, { kinds })).toEqual({
      ok: true,
      ref: { group, version, kind, plural, name: 'web' },
      kind: cloneSet,
    })
  expect(parseRef('cloneset/web')).toMatchObject({
    ok: false,
    problem: expect.stringContaining('sluice cannot upgrade a cloneset'),
  })
})

test('kinds that are known are listed with their group where they have one, and the nearest is named', () => {
  const problem = (text: string) => (parseRef(text, { kinds }) as { problem: string }).problem
  expect(problem('widget/web')).toMatch(/known are pod, statefulset, daemonset, deployment and clonesets\.apps\.example\.dev$/)
  expect(problem('clonest/web')).toMatch(/did you mean cloneset\/web\?$/)
})
