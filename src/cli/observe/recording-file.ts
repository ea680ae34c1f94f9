import { once } from 'node:events'
import { createWriteStream, statSync, type WriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { UsageError } from '../arguments/usage-error.ts'

/** The most bytes that may wait for the disk. A recording with more is lost. */
const MOST_PENDING_BYTES = 64 * 2 ** 20

/** The file of `--record`. */
export interface RecordingFile {
  write(line: object): void
  /** Resolves with whether all lines are in the file. */
  close(): Promise<boolean>
}

/** Creates a file that its user alone may read, since it has objects of the cluster. Rejects with a UsageError where that fails. */
export async function openRecording(file: string, onLost: (error: Error) => void): Promise<RecordingFile> {
  const stream = await open(file)
  let isLost = false
  stream.on('error', (error) => {
    if (!isLost) onLost(error)
    isLost = true
  })
  return {
    write(line) {
      if (isLost) return
      stream.write(`${JSON.stringify(line)}\n`)
      if (stream.writableLength > MOST_PENDING_BYTES) stream.destroy(new Error('the disk is slower than what is observed'))
    },
    async close() {
      if (isLost) return false
      stream.end()
      await finished(stream).catch(() => {})
      return !isLost
    },
  }
}

async function open(file: string): Promise<WriteStream> {
  try {
    return await opened(createWriteStream(file, { flags: 'wx', mode: 0o600 }))
  } catch (error) {
    // A device or a pipe has no content that would be overwritten.
    const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST' && !statSync(file).isFile()
    if (!isThere) throw new UsageError([`--record: ${(error as Error).message}`])
    return opened(createWriteStream(file))
  }
}

async function opened(stream: WriteStream): Promise<WriteStream> {
  await once(stream, 'open')
  return stream
}
