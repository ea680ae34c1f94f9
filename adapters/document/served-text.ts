/** The text of a document for a product that asks for it several times a second, and takes half a file for the whole. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { DocumentText } from './document.ts'

/** An editor that writes a file in its place takes less between two writes. */
const SETTLED_AFTER_MS = 100
const MOST_READS = 20

/**
 * One read for all that ask at the same time. A text is given once two reads have found the same version of it, and the one before
 * until then. Rejects where the document cannot be read, where `check` throws, and where it is written all the time.
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
