import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { UsageError } from '../arguments/usage-error.ts'

/** The file of `--record`. */
export interface RecordingFile {
  write(line: object): void
  /** Resolves with whether all of it is in the file. */
  close(): Promise<boolean>
}

/** Rejects with a UsageError where it cannot be opened. */
export async function openRecording(file: string, onLost: (error: Error) => void): Promise<RecordingFile> {
  const stream = createWriteStream(file)
  let isLost = false
  try {
    await once(stream, 'open')
  } catch (error) {
    throw new UsageError([`--record: ${(error as Error).message}`])
  }
  stream.on('error', (error) => {
    if (!isLost) onLost(error)
    isLost = true
  })
  return {
    write(line) {
      if (!isLost) stream.write(`${JSON.stringify(line)}\n`)
    },
    async close() {
      if (isLost) return false
      stream.end()
      await finished(stream).catch(() => {})
      return !isLost
    },
  }
}
