/** The text of a document for a product that polls it several times per second and would accept half of a file. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { DocumentText } from './document.ts'

/** The time without a change after which a text is complete, in milliseconds. An editor that writes in place pauses for less time. */
const SETTLED_AFTER_MS = 100
const MOST_READS = 20

/**
 * Gives the text, with one read for all concurrent calls. A new text counts once two reads find one version of it. A document that keeps
 * changing gives the former text. Rejects if a read fails, if `check` throws, or if there is no former text.
 */
export function createServedText(read: () => Promise<DocumentText>, check: (text: string) => void): () => Promise<string> {
  let settled: DocumentText | undefined
  let readAtMs = -Infinity
  let reading: Promise<void> | undefined

  async function readAnew(): Promise<void> {
    let found = await read()
    for (let reads = 1; found.version !== settled?.version && reads < MOST_READS; reads += 1) {
      await sleep(SETTLED_AFTER_MS)
      const again = await read()
      if (again.version === found.version) {
        check(again.text)
        settled = again
      } else found = again
    }
    readAtMs = performance.now()
    if (settled === undefined) throw new Error('the file is written all the time')
  }

  return async () => {
    if (settled === undefined || performance.now() - readAtMs >= SETTLED_AFTER_MS) {
      reading ??= readAnew().finally(() => (reading = undefined))
      await reading
    }
    return settled!.text
  }
}
