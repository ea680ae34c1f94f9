import type { NamedImage } from '../../reasons/fields.ts'
import { imageWords } from './images.ts'

/** What a run was asked for, such as `app=registry/app:v2`. One without images brings pods to their workload's own template. */
export function requestWords({ undoes, images }: { undoes?: string; images: readonly NamedImage[] }): string {
  const wanted = imageWords(images)
  if (undoes === undefined) return wanted === '' ? 'template' : wanted
  return `undo of ${undoes}${wanted === '' ? '' : `: ${wanted}`}`
}
