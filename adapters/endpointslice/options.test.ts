import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { effectCall } from '../conformance/steps.ts'
import { endpointslice } from './index.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-endpointslice-options-'))
afterAll(() => rmSync(folder, { recursive: true }))

const WEB = { namespace: 'shop', service: 'web' }

test.each<[object, string, string]>([
  [
    { ...WEB },
    'kubeconfig',
    'is missing: the cluster of the Service is never guessed\nname kubeconfig, context, or inCluster: true',
  ],
  [{ ...WEB, inCluster: true, context: 'edge' }, 'inCluster', 'goes without kubeconfig and context\nremove it, or the two'],
  [{ ...WEB, inCluster: false }, 'inCluster', 'is only ever true\nremove it, and name kubeconfig or context'],
  [{ ...WEB, kubeconfig: '' }, 'kubeconfig', 'is empty\nremove it, or name the file'],
  [
    { ...WEB, service: 'Web', context: 'a' },
    'service',
    '"Web" is no name of a Service\nwrite up to 63 lower-case letters, digits and hyphens, as kubectl shows it',
  ],
  [
    { ...WEB, namespace: 'a/b', context: 'a' },
    'namespace',
    '"a/b" is no name of a namespace\nwrite up to 63 lower-case letters, digits and hyphens, as kubectl shows it',
  ],
])('%j is refused', (options, field, message) => {
  const { issues } = endpointslice.options.safeParse(options).error!
  expect(issues.map((issue) => [issue.path.join('.'), issue.message])).toEqual([[field, message]])
})

test('settle is waited for, 10 s unless it is given', () => {
  const settleMs = (more: object): number =>
    endpointslice.create(endpointslice.options.parse({ ...WEB, context: 'a', ...more }), { name: 'edge' }).capabilities.settleMs
  expect([settleMs({}), settleMs({ settle: '3s' })]).toEqual([10_000, 3_000])
})

test.each<[string, object, string[]]>([
  ['a kubeconfig that is not there', { kubeconfig: './none' }, [`kubeconfig ${folder}/none cannot be read`]],
  [
    'a context that it does not have',
    { kubeconfig: './there', context: 'edge' },
    ['context edge is not in', 'choose another context: here'],
  ],
  ['no pod around', { inCluster: true }, ['sluice is in no pod with a service account here: name kubeconfig or context']],
])('%s: fatal, at the first call, and with the name', async (_, access, words) => {
  const config = {
    clusters: [{ name: 'c', cluster: { server: 'http://127.0.0.1:1' } }],
    contexts: [{ name: 'here', context: { cluster: 'c' } }],
  }
  writeFileSync(join(folder, 'there'), JSON.stringify(config))
  const adapter = endpointslice.create(endpointslice.options.parse({ ...WEB, ...access }), { name: 'edge', folder })
  const failure = adapter.inspect([{ id: '10.0.0.1:80', scope: 'x' }], effectCall([]))
  await expect(failure).rejects.toMatchObject({ name: 'AdapterError', kind: 'fatal' })
  for (const word of words) await expect(failure).rejects.toThrow(word)
  expect(adapter.reaches).toBe(undefined)
  await adapter.close()
})
