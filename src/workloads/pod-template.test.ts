import { describe, expect, it } from 'vitest'
import { imageChanges, templatePatch, withImages } from './pod-template.ts'
import { applyJsonPatch } from './testing/json-patch.ts'
import { template, workload } from './testing/manifests.ts'

const images = [
  { container: 'sidecar', image: 'registry/sidecar:v2' },
  { container: 'app', image: 'registry/app:v1' },
]

describe('pod template', () => {
  it('patches the containers whose image differs, each guarded by its name and its image', () => {
    expect(templatePatch(template(), images)).toEqual([
      { op: 'test', path: '/spec/template/spec/containers/1/name', value: 'sidecar' },
      { op: 'test', path: '/spec/template/spec/containers/1/image', value: 'registry/sidecar:v1' },
      { op: 'replace', path: '/spec/template/spec/containers/1/image', value: 'registry/sidecar:v2' },
    ])
  })

  it('fills in an image that the template left out', () => {
    const own = template()
    delete own.spec.containers[0].image
    const patched = applyJsonPatch(
      workload({ template: own }),
      templatePatch(own, [{ container: 'app', image: 'registry/app:v2' }]),
    )
    expect(patched.spec.template.spec.containers[0].image).toBe('registry/app:v2')
  })

  it('writes the template that it promises, and leaves the given one as it was', () => {
    const own = template()
    const promised = withImages(own, images)
    expect(applyJsonPatch(workload({ template: own }), templatePatch(own, images)).spec.template).toEqual(promised)
    expect(own).toEqual(template())
    expect(imageChanges(own, images)).toEqual([{ container: 'sidecar', from: 'registry/sidecar:v1', to: 'registry/sidecar:v2' }])
    expect(imageChanges(promised, images)).toEqual([])
  })
})
