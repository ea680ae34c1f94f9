import type { ContainerImage } from '../../pods/glossary.ts'
import { parseImageReference } from '../../pods/image.ts'
import { quote } from './quote.ts'

export type ParsedImageArgument = { ok: true; image: ContainerImage } | { ok: false; problem: string }

const CONTAINER_NAME = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/

/** A name, a tag and a digest, each as long as it may be. */
const LONGEST_IMAGE = 520

/** Reads `CONTAINER=IMAGE`. */
export function parseImageArgument(text: string): ParsedImageArgument {
  const quoted = quote(text)
  const separator = text.indexOf('=')
  const container = text.slice(0, separator)
  const image = text.slice(separator + 1)
  if (container === '*') return { ok: false, problem: `${quoted}: name each container, "*" is not understood` }
  if (!CONTAINER_NAME.test(container)) {
    return {
      ok: false,
      problem: `${quoted}: ${quote(container)} cannot be the name of a container: write CONTAINER=IMAGE`,
    }
  }
  const no = (reason: string): ParsedImageArgument => ({
    ok: false,
    problem: `${quoted}: ${quote(image)} is no image: ${reason}`,
  })
  // Its parts are named where they are wrong.
  if (image.length > LONGEST_IMAGE) return no(`it is longer than ${LONGEST_IMAGE} characters`)
  const parsed = parseImageReference(image)
  if (!parsed.ok) return no(parsed.reason)
  return { ok: true, image: { container, image } }
}
