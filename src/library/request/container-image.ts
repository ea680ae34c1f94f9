import { parseImageReference } from '../../pods/image.ts'
import { quote } from './quote.ts'

const CONTAINER_NAME = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/

/** The sum of the maximum lengths of a name, a tag and a digest. */
const LONGEST_IMAGE = 520

/** The reason why no container can have this name; undefined for a valid name. */
export function containerProblem(container: string): string | undefined {
  return CONTAINER_NAME.test(container) ? undefined : `${quote(container)} cannot be the name of a container`
}

/** The reason why the text is no image reference; undefined for a valid one. */
export function imageProblem(image: string): string | undefined {
  const no = (reason: string): string => `${quote(image)} is no image: ${reason}`
  // The length is checked first, because the messages below quote the parts of the reference.
  if (image.length > LONGEST_IMAGE) return no(`it is longer than ${LONGEST_IMAGE} characters`)
  const parsed = parseImageReference(image)
  return parsed.ok ? undefined : no(parsed.reason)
}
