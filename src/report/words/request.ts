import type { NamedImage } from '../../reasons/fields.ts'
import { imageWords } from './images.ts'

/** The request of a run, such as `app=registry/app:v2`. A request without images brings pods to the template of their workload. */
export function requestWords({ undoes, images }: { undoes?: string; images: readonly NamedImage[] }): string {
  const wanted = imageWords(images)
  if (undoes === undefined) return wanted === '' ? 'template' : wanted
  return `undo of ${undoes}${wanted === '' ? '' : `: ${wanted}`}`
}
