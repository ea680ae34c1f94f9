import { expect, test } from 'vitest'
import { Refusal } from './refusal.ts'
import { fieldSelector, labelSelector } from './selectors.ts'
import type { KubeObject } from './server.ts'

function object(labels: Record<string, string>, more: object = {}): KubeObject {
  const metadata = { name: 'web-0', namespace: 'default', uid: 'u', resourceVersion: '1', creationTimestamp: '', labels }
  return { apiVersion: 'v1', kind: 'Pod', metadata, ...more }
}

test.each([
  ['app=web', { app: 'web' }, true],
  ['app=web', { app: 'db' }, false],
  ['app = web , tier=front', { app: 'web', tier: 'front' }, true],
  ['app=web,tier=front', { app: 'web' }, false],
  ['app!=web', {}, true],
  ['app!=web', { app: 'web' }, false],
  ['app=', { app: '' }, true],
  ['example.org/app in (web,db),tier', { 'example.org/app': 'db', tier: '' }, true],
  ['app in (web,db)', {}, false],
  ['app notin (web,db)', {}, true],
  ['app notin (web, db)', { app: 'db' }, false],
  ['!app', { app: '' }, false],
  ['!app', {}, true],
] as const)('labels: %s of %j is %s', (text, labels, expected) => {
  expect(labelSelector(text)!(object({ ...labels }))).toBe(expected)
})

test('none selects everything', () => {
  expect([labelSelector(''), fieldSelector('pods', '')]).toEqual([undefined, undefined])
})

test.each(['a=b=c', 'app in web', 'app in (web', '=web', 'app,,tier', 'a b'])('labels: %s is none', (text) => {
  expect(() => labelSelector(text)).toThrow(Refusal)
})

test('fields: of all kinds, and of pods', () => {
  const pod = object({}, { spec: { nodeName: 'node-0' }, status: { phase: 'Running' } })
  const holds = (text: string) => fieldSelector('pods', text)!(pod)
  expect(['metadata.name=web-0,spec.nodeName==node-0', 'status.phase!=Failed', 'spec.nodeName='].map(holds)).toEqual([
    true,
    true,
    false,
  ])
  expect(() => fieldSelector('configmaps', 'spec.nodeName=node-0')).toThrow(Refusal)
})
