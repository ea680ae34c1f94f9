const NEWLINE = 0x0a

/**
 * Splits a stream into lines by bytes: a newline byte is never part of another UTF-8 character, and a character that is split between
 * chunks is joined before it is decoded. The rest after the last newline is never passed on, because a watch that is cut there resumes from
 * the line before.
 */
export function createLineSplitter(onLine: (line: string) => void): (chunk: Buffer) => void {
  let partial: Buffer[] = []
  return (chunk) => {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const piece = chunk.subarray(start, end)
      const line = partial.length === 0 ? piece : Buffer.concat([...partial, piece])
      partial = []
      start = end + 1
      if (line.length > 0) onLine(line.toString('utf8'))
    }
    if (start < chunk.length) partial.push(chunk.subarray(start))
  }
}
