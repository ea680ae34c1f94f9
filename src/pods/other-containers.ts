import type { PodView } from './glossary.ts'

/** Its containers were replaced, or are about to be, since they are asked for with other images. */
export function hasOtherContainers(before: PodView, now: PodView): boolean {
  return now.containers.some(({ name, image, containerId }) => {
    const then = before.containers.find((one) => one.name === name)
    return then?.image !== image || then.containerId !== containerId
  })
}
