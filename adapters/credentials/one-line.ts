/** Prepares external text for messages. */
import { createBlotter } from './blot-out.ts'

/**
 * The maximum length, in characters, for the search for secrets. A search in megabytes of text takes seconds, in which no Lease can be
 * renewed.
 */
export const LOOKED_AT = 16_384

/** External text for a message: on one line, without control characters, and without secrets. */
export function oneLine(text: string, secrets: readonly string[]): string {
  return createLiner(secrets)(text)
}

/** Like `oneLine`, for many texts. */
export function createLiner(secrets: readonly string[]): (text: string) => string {
  const blotOut = createBlotter(secrets)
  return (text) =>
    blotOut(text)
      .replaceAll(/[\p{C}\s]+/gu, ' ')
      .trim()
}

/** The beginning of an answer for a message, shortened and in the form of `oneLine`. */
export function excerpt(text: string, secrets: readonly string[]): string {
  const shown = oneLine(text.slice(0, LOOKED_AT), secrets)
  // The text is almost only white space. Its end may be a part of a secret, which cannot be recognized.
  if (text.length > LOOKED_AT && shown.length <= 200) return '…'
  return shown.length > 200 ? `${shown.slice(0, 199)}…` : shown
}
