/** The begin of a body, which has the uid. */
const HEAD_BYTES = 4096

/** A body that was read. `isWhole` is false where there was no memory for more than its begin. */
export interface Body {
  readonly bytes: Uint8Array
  readonly isWhole: boolean
  /** To be called once the bytes are needed no more. */
  release(): void
}

/**
 * Reads bodies within one limit on their bytes, since anybody may send bodies at the same time. A body for which there is no room is read to
 * its end all the same: its sender would not see an answer before.
 */
export function createBodies(mostBytes: number): (stream: AsyncIterable<Uint8Array>) => Promise<Body> {
  let held = 0
  return async (stream) => {
    const chunks: Uint8Array[] = []
    let [own, isWhole] = [0, true]
    const release = (): void => {
      held -= own
      own = 0
    }
    try {
      for await (const chunk of stream) {
        if (isWhole && held + chunk.length > mostBytes) {
          isWhole = false
          const head = Buffer.concat(chunks).subarray(0, HEAD_BYTES)
          chunks.splice(0, chunks.length, Uint8Array.from(head))
          release()
        }
        if (!isWhole) continue
        own += chunk.length
        held += chunk.length
        chunks.push(chunk)
      }
    } catch (error) {
      release()
      throw error
    }
    return { bytes: Buffer.concat(chunks), isWhole, release }
  }
}
