import { describe, expect, test } from 'vitest'
import { AdapterError } from '../../adapters/contract.ts'
import { ConfigError } from '../config/config-error.ts'
import { KubeError } from '../kube/errors.ts'
import { KubeConfigError } from '../kube/kubeconfig-error.ts'
import { WorkloadError } from '../workloads/errors.ts'
import { failureOf } from './failures.ts'
import { UsageError } from './arguments/usage-error.ts'

const late = {
  code: 'template-not-in-time',
  workload: 'statefulset/web',
  deadlineMs: 60_000,
  waiting: { code: 'awaits-template-write' },
} as const

const kubeError = (kind: 'definite' | 'conflict') =>
  new KubeError('pods is forbidden', { kind, method: 'GET', path: '/api/v1/pods', status: 403, reason: 'Forbidden' })

describe('before anything was touched', () => {
  test.each<[string, Error, number, string]>([
    ['wrong arguments', new UsageError(['one', 'two']), 2, 'error: one\nerror: two'],
    [
      'a wrong config',
      new ConfigError('c.yaml', [{ path: 'drain', message: 'is empty', hint: 'remove it', line: 3, column: 1 }]),
      2,
      'c.yaml:3:1: drain: is empty\n    remove it',
    ],
    ['no cluster', new KubeConfigError('no cluster is configured'), 3, 'error: no cluster is configured'],
    ['refused', kubeError('definite'), 3, 'error: pods is forbidden'],
    [
      'no such workload',
      new WorkloadError('not-found', { code: 'no-such-workload', workload: 'statefulset/web', namespace: 'shop' }),
      3,
      'error: there is no statefulset/web in namespace shop; check the name, and the namespace',
    ],
    ['no load balancer', new AdapterError('edge', 'fatal', 'no such backend'), 3, 'error: edge: no such backend'],
    [
      'a named deadline',
      new WorkloadError('deadline', late, { deadline: 'template' }),
      4,
      'error: deadline template (60 s): statefulset/web: waited until the API server takes the template',
    ],
    [
      'an error that knows its way out',
      new KubeError('GET /: not signed', { kind: 'definite', method: 'GET', path: '/', hint: 'get the kubeconfig again' }),
      3,
      'error: GET /: not signed\n    get the kubeconfig again',
    ],
    [
      'no API server',
      new KubeError('GET /api/v1/pods: connect ECONNREFUSED 127.0.0.1:9', {
        kind: 'definite',
        method: 'GET',
        path: '/api/v1/pods',
      }),
      3,
      'error: GET /api/v1/pods: connect ECONNREFUSED 127.0.0.1:9\n    is this the right cluster? --context, --cluster and --kubeconfig name another',
    ],
    ['somebody else', kubeError('conflict'), 7, 'error: pods is forbidden'],
    [
      'a cause that says more',
      new KubeConfigError('cannot connect', { cause: new Error('connection refused') }),
      3,
      'error: cannot connect: connection refused',
    ],
  ])('%s', (_name, error, code, text) => {
    const failure = failureOf(error, { touched: false })
    expect(failure.code).toBe(code)
    expect(failure.lines.join('\n')).toBe(text)
    expect(failure).not.toHaveProperty('stack')
  })
})

test('once a run has begun, an error is a failure and no longer a preflight', () => {
  expect(failureOf(kubeError('definite'), { touched: true }).code).toBe(1)
})

test.each([new TypeError('x is not a function'), 'thrown text', undefined])('%s names no component: a bug', (error) => {
  const failure = failureOf(error, { touched: false })
  expect(failure.code).toBe(1)
  // For a plan, exit code 1 means that there are changes.
  expect(failureOf(error, { touched: false, plans: true }).code).toBe(3)
  expect(failure.lines.at(-1)).toBe(
    'This is a bug in sluice. Please report it with the output of the same command under SLUICE_LOG=debug.',
  )
})
