import { idNamed } from '../../workloads/kinds/testing/id-named.ts'
import { describe, expect, test } from 'vitest'
import { parseRequest, type RequestVerb } from './request.ts'
import { UsageError } from './usage-error.ts'

type Flags = Parameters<typeof parseRequest>[1]

function problemsOf(args: string[], flags: Flags = {}, verb?: RequestVerb): readonly string[] {
  try {
    parseRequest(args, flags, verb)
  } catch (error) {
    if (error instanceof UsageError) return error.problems
    throw error
  }
  return []
}

describe('what is understood', () => {
  test.each([
    ['statefulset/web', 'StatefulSet'],
    ['statefulsets/web', 'StatefulSet'],
    ['sts/web', 'StatefulSet'],
    ['STS/web', 'StatefulSet'],
    ['statefulsets.apps/web', 'StatefulSet'],
    ['sts.v1.apps/web', 'StatefulSet'],
    ['ds/web', 'DaemonSet'],
    ['daemonset.apps/web', 'DaemonSet'],
    ['deploy/web', 'Deployment'],
    ['deployments.apps/web', 'Deployment'],
    ['pod/web', 'Pod'],
    ['po/web', 'Pod'],
    ['pods/web', 'Pod'],
  ])('%s is a %s', (argument, kind) => {
    expect(parseRequest([argument], {}).select).toEqual({ refs: [idNamed(kind, 'web')] })
  })

  test('names and images in any order; an image is told by its "="', () => {
    const request = parseRequest(
      ['app=registry:5000/team/app:v2', 'sts/web', 'proxy=envoy@sha256:' + 'a'.repeat(64), 'pod/web-7'],
      {},
    )
    expect(request.select).toEqual({
      refs: [idNamed('StatefulSet', 'web'), idNamed('Pod', 'web-7')],
    })
    expect(request.images).toEqual([
      { container: 'app', image: 'registry:5000/team/app:v2' },
      { container: 'proxy', image: `envoy@sha256:${'a'.repeat(64)}` },
    ])
  })

  test('a name given twice counts once', () => {
    expect(parseRequest(['sts/web', 'statefulset/web'], {}).select).toEqual({ refs: [idNamed('StatefulSet', 'web')] })
  })

  test('a selector by a label that is only called alike', () => {
    expect(problemsOf([], { selector: 'my-controller-revision-hash=a,controller-revision-hash.example/x' })).toEqual([])
  })

  test('a selector in place of names', () => {
    expect(parseRequest(['app=app:v2'], { selector: 'app=web,tier!=test' }).select).toEqual({
      labelSelector: 'app=web,tier!=test',
    })
  })

  test('flags that replace settings, and only those', () => {
    const request = parseRequest(['sts/web'], {
      maxUnavailable: '25%',
      readyFor: '0s',
      drainDeadline: '2m',
      onDrainDeadline: 'proceed',
      restoreDeadline: '90s',
      grace: '0s',
      requestTimeout: '30',
      acceptTemplateDrift: true,
    })
    expect(request).toMatchObject({ graceMs: 0, requestTimeoutMs: 30_000, acceptTemplateDrift: true, allowUnbalanced: false })
    expect(request.overrides).toEqual({
      maxUnavailable: { percent: 25 },
      readyForMs: 0,
      drainDeadlineMs: 120_000,
      onDrainDeadline: 'proceed',
      restoreDeadlineMs: 90_000,
    })
  })

  test.each(['0', '0s', '0ms'])('--request-timeout=%s, the default of kubectl, is the default here', (requestTimeout) => {
    expect(parseRequest(['sts/web'], { requestTimeout })).not.toHaveProperty('requestTimeoutMs')
  })
})

describe('what is refused', () => {
  test.each<[string[], string]>([
    [[], 'what to upgrade is missing: name TYPE/NAME, or pods with -l SELECTOR'],
    [['app=app:v2'], 'what to upgrade is missing: name TYPE/NAME, or pods with -l SELECTOR'],
    [['web'], '"web" is neither a workload nor an image: write TYPE/NAME for a workload, or CONTAINER=IMAGE for an image'],
    [['sts'], '"sts" is neither a workload nor an image: write sts/NAME'],
    [['sts/'], '"sts/" is neither a workload nor an image: write TYPE/NAME for a workload, or CONTAINER=IMAGE for an image'],
    [
      ['shop/sts/web'],
      '"shop/sts/web" is neither a workload nor an image: write TYPE/NAME for a workload, or CONTAINER=IMAGE for an image',
    ],
    [['statfulset/web'], '"statfulset/web": "statfulset" is no kind that sluice can upgrade: did you mean statefulset/web?'],
    [
      ['registry.example/app:v3'],
      '"registry.example/app:v3": "registry.example" is no kind that sluice can upgrade: known are pod, statefulset, daemonset and deployment; write CONTAINER=IMAGE for an image',
    ],
    [
      ['sts.batch/web'],
      '"sts.batch/web": "sts.batch" is no kind that sluice can upgrade: known are pod, statefulset, daemonset and deployment',
    ],
    [
      ['cloneset/web'],
      '"cloneset/web": sluice cannot upgrade a cloneset: OpenKruise upgrades the pods of a CloneSet in place by itself: set the image there; this version cannot hook into that',
    ],
    [
      ['rs/web'],
      '"rs/web": sluice cannot upgrade a rs: name the Deployment that owns it, or its pods (pod/NAME, or -l SELECTOR)',
    ],
    [['svc/web'], '"svc/web": sluice cannot upgrade a svc: name the workload behind it, such as statefulset/NAME'],
    [['sts/Web'], '"sts/Web": "Web" cannot be the name of an object'],
    [['sts/web', '*=app:v2'], '"*=app:v2": name each container, "*" is not understood'],
    [['sts/web', '=app:v2'], '"=app:v2": "" cannot be the name of a container: write CONTAINER=IMAGE'],
    [['sts/web=app:v2'], '"sts/web=app:v2": "sts/web" cannot be the name of a container: write CONTAINER=IMAGE'],
    [['sts/web', 'app='], '"app=": "" is no image: it is empty'],
    [['sts/web', 'app=a b'], '"app=a b": "a b" is no image: it contains white space'],
    [['sts/web', 'app=a:1', 'app=a:2'], '"app=a:2": container app is given twice'],
  ])('%j', (args, problem) => {
    expect(problemsOf(args)).toEqual([problem])
  })

  test.each<[Flags, string]>([
    [{ selector: 'app=web' }, 'names and -l exclude each other: give one of them'],
    [{ grace: '5' }, '--grace: 5 has no unit: write "5s" for seconds or "5ms" for milliseconds'],
    [{ drainDeadline: '0s' }, '--drain-deadline: 0s is too short: a deadline of 0 would always have passed'],
    [
      { maxUnavailable: 'all' },
      '--max-unavailable: "all" is neither a number of pods nor a share of them: ' +
        'write a number of pods from 1 up, or a share such as "25%" (1% to 100%, rounded down, at least one pod)',
    ],
    [
      { requestTimeout: 'soon' },
      '--request-timeout: "soon" is not a duration: write a whole number with a unit, such as 500ms, 60s, 5m, 1h or 1m30s',
    ],
  ])('%j', (flags, problem) => {
    expect(problemsOf(['sts/web'], flags)).toEqual([problem])
  })

  test.each(['controller-revision-hash=web-1', 'app=web, !controller-revision-hash', 'controller-revision-hash in (web-1)'])(
    '%s, which a pod would leave with its patch',
    (selector) => {
      expect(problemsOf([], { selector })).toEqual([expect.stringContaining('name the workload, or select by another label')])
    },
  )

  test('a selector that is none, which the API server would only tell later', () => {
    expect(problemsOf([], { selector: 'app=web=2' })).toEqual([
      '-l: "app=web=2" is no label selector: "=" stands where a comma must be',
    ])
  })

  test('an empty selector, which would be every pod', () => {
    expect(problemsOf([], { selector: ' ' })).toEqual(['-l: an empty selector would mean every pod in the namespace'])
  })

  test.each<[RequestVerb, string[], string[]]>([
    ['abort', ['sts/web'], []],
    ['abort', ['sts/web', 'app=app:v2'], ['"app=app:v2": abort takes no image: it is about the run that is open']],
    ['abort', [], ['what to abort is missing: name TYPE/NAME, or pods with -l SELECTOR']],
    ['resume', ['web'], ['"web" is no workload: write TYPE/NAME']],
    ['resume', ['sts'], ['"sts" is no workload: write sts/NAME']],
    // `undo` has no -l.
    ['undo', ['app=app:v2'], ['"app=app:v2": undo takes no image: it goes back to the images on record']],
    [
      'plan',
      ['web'],
      ['"web" is neither a workload nor an image: write TYPE/NAME for a workload, or CONTAINER=IMAGE for an image'],
    ],
    ['plan', ['app=app:v2'], ['what to plan is missing: name TYPE/NAME, or pods with -l SELECTOR']],
  ])('of %s: %j', (verb, args, problems) => {
    expect(problemsOf(args, {}, verb)).toEqual(problems)
  })

  test('everything at once', () => {
    expect(problemsOf(['web', 'app=', 'rs/x'], { grace: 'x', readyFor: '3' })).toHaveLength(5)
  })
})
