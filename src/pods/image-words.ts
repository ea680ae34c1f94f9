import type { ContainerImage } from './glossary.ts'

/** Images as the command line takes them: `app=registry/app:v2 log=registry/log:v1`. */
export function imageWords(images: readonly ContainerImage[]): string {
  return images.map(({ container, image }) => `${container}=${image}`).join(' ')
}
