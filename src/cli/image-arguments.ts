import type { ContainerImage } from '../pods/glossary.ts'
import { parseImageReference } from '../pods/image.ts'

export type ParsedImageArgument = { ok: true; image: ContainerImage } | { ok: false; problem: string }

const CONTAINER_NAME = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/

/** Reads `CONTAINER=IMAGE`. */
export function parseImageArgument(text: string): ParsedImageArgument {
  const quoted = JSON.stringify(text)
  const separator = text.indexOf('=')
  const container = text.slice(0, separator)
  const image = text.slice(separator + 1)
  if (container === '*') return { ok: false, problem: `${quoted}: name each container, "*" is not understood` }
  if (!CONTAINER_NAME.test(container)) {
    return {
      ok: false,
      problem: `${quoted}: ${JSON.stringify(container)} cannot be the name of a container: write CONTAINER=IMAGE`,
    }
  }
  const parsed = parseImageReference(image)
  if (!parsed.ok) return { ok: false, problem: `${quoted}: ${JSON.stringify(image)} is no image: ${parsed.reason}` }
  return { ok: true, image: { container, image } }
}
