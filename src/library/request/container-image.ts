import { parseImageReference } from '../../pods/image.ts'
import { quote } from './quote.ts'

const CONTAINER_NAME = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/

/** A name, a tag and a digest, each as long as it may be. */
const LONGEST_IMAGE = 520

/** Why no container can have that name; undefined where one can. */
export function containerProblem(container: string): string | undefined {
  return CONTAINER_NAME.test(container) ? undefined : `${quote(container)} cannot be the name of a container`
}

/** Why that is no image reference; undefined where it is one. */
export function imageProblem(image: string): string | undefined {
  const no = (reason: string): string => `${quote(image)} is no image: ${reason}`
  // Its parts are named where they are wrong.
  if (image.length > LONGEST_IMAGE) return no(`it is longer than ${LONGEST_IMAGE} characters`)
  const parsed = parseImageReference(image)
  return parsed.ok ? undefined : no(parsed.reason)
}
