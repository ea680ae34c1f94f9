import { z } from 'zod'
import type { PatchOperation } from '../kube/client.ts'
import type { ContainerImage } from '../pods/glossary.ts'

/**
 * The fields that are read of a pod template. The template itself is kept as the API returned it, so that a comparison covers every field.
 */
const PodTemplate = z.object({
  spec: z.object({
    containers: z.array(z.object({ name: z.string(), image: z.string().optional() })),
    initContainers: z.array(z.object({ name: z.string() })).nullish(),
  }),
})

export interface TemplateContainers {
  /** The image may be missing in a template, if admission sets it. */
  containers: { name: string; image?: string | undefined }[]
  initContainers: string[]
}

/** @throws z.ZodError if the value is no pod template */
export function templateContainers(template: unknown): TemplateContainers {
  const { spec } = PodTemplate.parse(template)
  return { containers: spec.containers, initContainers: spec.initContainers?.map(({ name }) => name) ?? [] }
}

/** A copy of the template with these images. */
export function withImages(template: unknown, images: readonly ContainerImage[]): unknown {
  const { spec, ...others } = template as z.infer<typeof PodTemplate>
  const containers = spec.containers.map((container) => {
    const wanted = images.find((one) => one.container === container.name)
    return wanted ? { ...container, image: wanted.image } : container
  })
  return { ...others, spec: { ...spec, containers } }
}

/** The containers whose image in the template differs from the requested one. */
export function imageChanges(
  template: unknown,
  images: readonly ContainerImage[],
): { container: string; from: string; to: string }[] {
  return templateContainers(template).containers.flatMap(({ name, image = '' }) => {
    const wanted = images.find(({ container }) => container === name)
    return wanted && wanted.image !== image ? [{ container: name, from: image, to: wanted.image }] : []
  })
}

/**
 * Operations that set the images in the template of a workload, each guarded by the value that was read. The resourceVersion is no guard,
 * because each status write of the controller changes it.
 */
export function templatePatch(template: unknown, images: readonly ContainerImage[]): PatchOperation[] {
  const { containers } = templateContainers(template)
  return imageChanges(template, images).flatMap(({ container, to }): PatchOperation[] => {
    const index = containers.findIndex(({ name }) => name === container)
    const path = `/spec/template/spec/containers/${index}`
    const present = containers[index]?.image
    return [
      { op: 'test', path: `${path}/name`, value: container },
      { op: 'test', path: `${path}/image`, value: present ?? null },
      { op: present === undefined ? 'add' : 'replace', path: `${path}/image`, value: to },
    ]
  })
}
