import { KINDS } from '../../workloads/kinds/index.ts'
import { idNamed } from '../../workloads/kinds/testing/id-named.ts'
import { expect, test } from 'vitest'
import type { RunSettings } from '../../engine/run.ts'
import { abortSettings, parseAbort, parseUpgrade } from './parse-upgrade.ts'
import { RequestError, type RequestIssue } from './request-error.ts'
import type { UpgradeRequest } from './upgrade-request.ts'

const SETTINGS: RunSettings = {
  maxUnavailable: { count: 1 },
  readyForMs: 0,
  onFailure: 'rollback',
  drainDeadlineMs: 60_000,
  onDrainDeadline: 'fail',
  restartDeadlineMs: 300_000,
  rollbackDeadlineMs: 600_000,
  readyDeadlineMs: 600_000,
  restoreDeadlineMs: 60_000,
}
const parse = (request: UpgradeRequest) => parseUpgrade(request, { namespace: 'default', kinds: KINDS, settings: SETTINGS })

function issuesOf(request: unknown, read: (request: UpgradeRequest) => unknown = parse): readonly RequestIssue[] {
  try {
    read(request as UpgradeRequest)
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    return error.issues
  }
  return []
}

const fields = (request: unknown): string[] => issuesOf(request).map(({ field }) => field)

test('a request gets its defaults from the config and the cluster', () => {
  expect(parse({ workload: 'sts/web', images: { app: 'registry.example/app:v2' } })).toEqual({
    namespace: 'default',
    select: { refs: [idNamed('StatefulSet', 'web')] },
    images: [{ container: 'app', image: 'registry.example/app:v2' }],
    settings: SETTINGS,
    acceptTemplateDrift: false,
    allowUnbalanced: false,
    retiredLoadBalancers: [],
    exitWhenPaused: false,
  })
})

test('workloads are names, objects, or several of both, each once', () => {
  const workload = [
    'statefulset/web',
    { kind: 'StatefulSet', name: 'web' },
    idNamed('StatefulSet', 'web'),
    idNamed('Pod', 'db-0'),
  ]
  expect(parse({ workload }).select).toEqual({
    refs: [idNamed('StatefulSet', 'web'), idNamed('Pod', 'db-0')],
  })
  expect(parse({ labelSelector: 'app=web', namespace: 'shop' })).toMatchObject({
    namespace: 'shop',
    select: { labelSelector: 'app=web' },
  })
})

test('the namespace of a workload is that of the request, and agrees with it and with that of the others', () => {
  const [web, api] = ['web', 'api'].map((name) => ({ ...idNamed('StatefulSet', name), namespace: 'shop' }))
  expect(parse({ workload: [web!, api!] })).toMatchObject({
    namespace: 'shop',
    select: { refs: [idNamed('StatefulSet', 'web'), idNamed('StatefulSet', 'api')] },
  })
  expect(parse({ workload: ['sts/db', web!] }).namespace).toBe('shop')
  expect(parse({ workload: web!, namespace: 'shop' }).namespace).toBe('shop')
  const hint = 'a request is of one namespace'
  expect(issuesOf({ workload: web, namespace: 'prod' })).toEqual([
    { field: 'workload.namespace', message: '"shop" is another namespace than "prod" of namespace', hint },
  ])
  expect(issuesOf({ workload: ['sts/db', web, { ...api, namespace: 'prod' }] })).toEqual([
    { field: 'workload[2].namespace', message: '"prod" is another namespace than "shop" of workload[1].namespace', hint },
  ])
})

test('settings go over those of the config, and an undo never rolls back', () => {
  const settings = { maxUnavailable: '25%', readyForMs: 5_000, onFailure: undefined } as unknown as UpgradeRequest['settings'] &
    object
  expect(parse({ workload: 'sts/web', settings }).settings).toEqual({
    ...SETTINGS,
    maxUnavailable: { percent: 25 },
    readyForMs: 5_000,
  })
  expect(parse({ workload: 'sts/web', settings: { maxUnavailable: { count: 3 } } }).settings.maxUnavailable).toEqual({ count: 3 })
  expect(parse({ workload: 'sts/web', undo: {} })).toMatchObject({ undo: {}, settings: { onFailure: 'hold' } })
})

test.each([
  ['nothing', {}, ['workload']],
  ['no object', 'statefulset/web', ['request']],
  ['an unknown field', { workload: 'sts/web', image: {} }, ['image']],
  ['a kind that there is not', { workload: 'sst/web' }, ['workload']],
  ['one of several names', { workload: ['sts/web', 'web'] }, ['workload[1]']],
  ['both ways to choose', { workload: 'sts/web', labelSelector: 'app=web' }, ['labelSelector']],
  ['an empty selector', { labelSelector: ' ' }, ['labelSelector']],
  ['a selector that is none', { labelSelector: 'app=(' }, ['labelSelector']],
  ['a label that a patch changes', { labelSelector: 'controller-revision-hash=x' }, ['labelSelector']],
  ['a namespace', { workload: 'sts/web', namespace: 'Shop' }, ['namespace']],
  ['a namespace of a workload', { workload: { kind: 'Pod', name: 'a', namespace: 'Shop' } }, ['workload.namespace']],
  ['an image', { workload: 'sts/web', images: { app: 'a b' } }, ['images.app']],
  ['a container', { workload: 'sts/web', images: { 'a/b': 'app:v2' } }, ['images.a/b']],
  ['images of an undo', { workload: 'sts/web', images: { app: 'app:v2' }, undo: {} }, ['images']],
  ['a window', { workload: 'sts/web', settings: { maxUnavailable: '0%' } }, ['settings.maxUnavailable']],
  ['a duration', { workload: 'sts/web', settings: { drainDeadlineMs: 0 } }, ['settings.drainDeadlineMs']],
  ['a duration in words', { workload: 'sts/web', settings: { readyForMs: '5s' } }, ['settings.readyForMs']],
  ['settings together with the config', { workload: 'sts/web', settings: { readyForMs: 600_000 } }, ['settings.readyForMs']],
  ['several at once', { namespace: '-', images: { app: '' } }, ['images.app', 'namespace', 'workload']],
])('the field is named where it is about %s', (_what, request, expected) => {
  expect(fields(request)).toEqual(expected)
})

test('an abort has the deadlines of the way home, and no other settings', () => {
  const settings = { restartDeadlineMs: 4_000 }
  expect(abortSettings({ workload: 'sts/web', settings }, SETTINGS)).toEqual({ ...SETTINGS, restartDeadlineMs: 4_000 })
  const read = (request: object) => parseAbort(request, { namespace: 'default', kinds: KINDS })
  expect(issuesOf({ workload: 'sts/web', settings: { readyForMs: 1 } }, read)).toMatchObject([{ field: 'settings.readyForMs' }])
  const late = { ...SETTINGS, readyForMs: 10_000 }
  const issues = issuesOf({ workload: 'sts/web', settings: { readyDeadlineMs: 1 } }, (request) => abortSettings(request, late))
  expect(issues).toMatchObject([{ field: 'settings.readyForMs' }])
})

test('the message has a line for each issue, with the way out', () => {
  expect(() => parse({ workload: 'sts/web', iamges: {} } as UpgradeRequest)).toThrow(/^iamges: .*images/)
})
