import { expect, it } from 'vitest'
import { podView } from '../pods/view.ts'
import { revisionLabelPatch } from './revision-label.ts'
import { applyJsonPatch } from './testing/json-patch.ts'
import { rawPod } from './testing/manifests.ts'

const withoutMap = rawPod()
delete withoutMap.metadata.labels

it.each([
  ['in place of another', rawPod({ revision: 'web-1' })],
  ['beside other labels', rawPod()],
  ['where there is no map of labels', withoutMap],
])('gives the label %s, and keeps the others', (_name, raw) => {
  const patched = applyJsonPatch(raw, revisionLabelPatch(podView(raw), 'web-2'))
  expect(patched.metadata.labels).toEqual({ ...raw.metadata.labels, 'controller-revision-hash': 'web-2' })
})

it('fails where the label is another by now, or has come meanwhile', () => {
  const was = podView(rawPod({ revision: 'web-1' }))
  expect(() => applyJsonPatch(rawPod({ revision: 'web-3' }), revisionLabelPatch(was, 'web-2'))).toThrow('test failed')
  expect(() => applyJsonPatch(rawPod({ revision: 'web-3' }), revisionLabelPatch(podView(withoutMap), 'web-2'))).toThrow(
    'test failed',
  )
})

it('is nothing where the pod has the label', () => {
  expect(revisionLabelPatch(podView(rawPod({ revision: 'web-2' })), 'web-2')).toEqual([])
})
