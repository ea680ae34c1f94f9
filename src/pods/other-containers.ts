import type { PodView } from './glossary.ts'

/** True if containers of the pod were replaced, or are about to be, because the spec asks for other images. */
export function hasOtherContainers(before: PodView, now: PodView): boolean {
  return now.containers.some(({ name, image, containerId }) => {
    const then = before.containers.find((one) => one.name === name)
    return then?.image !== image || then.containerId !== containerId
  })
}
