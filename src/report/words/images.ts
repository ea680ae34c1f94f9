import type { NamedImage } from '../../reasons/fields.ts'

/** Images in the notation of the command line: `app=registry/app:v2 log=registry/log:v1`. */
export function imageWords(images: readonly NamedImage[], separator = ' '): string {
  return images.map(({ container, image }) => `${container}=${image}`).join(separator)
}
