import { z } from 'zod'
import type { PatchOperation } from '../kube/client.ts'
import type { ContainerImage } from '../pods/glossary.ts'

/** What is read of a pod template. The template itself is kept as the API gave it, so that nothing escapes a comparison. */
const PodTemplate = z.object({
  spec: z.object({
    containers: z.array(z.object({ name: z.string(), image: z.string().optional() })),
    initContainers: z.array(z.object({ name: z.string() })).nullish(),
  }),
})

export interface TemplateContainers {
  /** A template may leave an image out, for admission to fill in. */
  containers: { name: string; image?: string | undefined }[]
  initContainers: string[]
}

/** @throws z.ZodError where it is no pod template */
export function templateContainers(template: unknown): TemplateContainers {
  const { spec } = PodTemplate.parse(template)
  return { containers: spec.containers, initContainers: spec.initContainers?.map(({ name }) => name) ?? [] }
}

/** The template with these images; the given one is left as it is. */
export function withImages(template: unknown, images: readonly ContainerImage[]): unknown {
  const { spec, ...others } = template as z.infer<typeof PodTemplate>
  const containers = spec.containers.map((container) => {
    const wanted = images.find((one) => one.container === container.name)
    return wanted ? { ...container, image: wanted.image } : container
  })
  return { ...others, spec: { ...spec, containers } }
}

/** The containers whose image in the template is another than asked. */
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
 * Operations that put the images into the template of a workload, each guarded by what was read.
 * The resourceVersion is no guard: each status write of the controller changes it.
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
