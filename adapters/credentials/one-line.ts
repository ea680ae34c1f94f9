/** Text from elsewhere as messages show it. */
import { createBlotter } from './blot-out.ts'

/** Of a page of megabytes, looking for secrets in all of it took seconds, in which no Lease could be renewed. */
export const LOOKED_AT = 16_384

/** Text from elsewhere for a message: on one line, without control characters, and without what must not be seen. */
export function oneLine(text: string, secrets: readonly string[]): string {
  return createLiner(secrets)(text)
}

/** `oneLine` for many texts. */
export function createLiner(secrets: readonly string[]): (text: string) => string {
  const blotOut = createBlotter(secrets)
  return (text) =>
    blotOut(text)
      .replaceAll(/[\p{C}\s]+/gu, ' ')
      .trim()
}

/** The beginning of an answer for a message: short, and as `oneLine` gives it. */
export function excerpt(text: string, secrets: readonly string[]): string {
  const shown = oneLine(text.slice(0, LOOKED_AT), secrets)
  // Nearly nothing but space: its end may be half a secret, which is not known for one.
  if (text.length > LOOKED_AT && shown.length <= 200) return '…'
  return shown.length > 200 ? `${shown.slice(0, 199)}…` : shown
}
