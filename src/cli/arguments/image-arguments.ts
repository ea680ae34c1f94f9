import { containerProblem, imageProblem } from '../../library/request/container-image.ts'
import { quote } from '../../library/request/quote.ts'
import type { ContainerImage } from '../../pods/glossary.ts'

export type ParsedImageArgument = { ok: true; image: ContainerImage } | { ok: false; problem: string }

/** Parses `CONTAINER=IMAGE`. */
export function parseImageArgument(text: string): ParsedImageArgument {
  const quoted = quote(text)
  const separator = text.indexOf('=')
  const container = text.slice(0, separator)
  const image = text.slice(separator + 1)
  if (container === '*') return { ok: false, problem: `${quoted}: name each container, "*" is not understood` }
  const noContainer = containerProblem(container)
  if (noContainer !== undefined) return { ok: false, problem: `${quoted}: ${noContainer}: write CONTAINER=IMAGE` }
  const noImage = imageProblem(image)
  return noImage === undefined ? { ok: true, image: { container, image } } : { ok: false, problem: `${quoted}: ${noImage}` }
}
