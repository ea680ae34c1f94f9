/** Reads a named file, with a limit on its size and on the waiting time. */
import { constants } from 'node:fs'
import { open, stat, type FileHandle } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'

const ASK_PIPE_EVERY_MS = 20

/** The paths of `--config <(command)` and `command | sluice --config /dev/stdin`, whose writer is running already. */
const DESCRIPTOR = /^\/(?:dev\/(?:stdin|fd\/\d+)|proc\/(?:self|\d+)\/fd\/\d+)$/

export interface Limits {
  largestBytes: number
  /** The time limit for the output of another process. */
  pipeDeadlineMs: number
  /** The name of the content for messages, such as `a config`. */
  what: string
}

export interface Wrong {
  kind: 'directory' | 'device' | 'long' | 'endless'
  message: string
}

/** Throws the error of the file system. */
export async function readBounded(file: string, limits: Limits): Promise<Uint8Array | Wrong> {
  const named = await stat(file)
  if (named.isDirectory()) return { kind: 'directory', message: 'is a directory' }
  // Opening a named pipe waits for a writer, and opening some devices has side effects; so only regular files are opened.
  if (!named.isFile() && !DESCRIPTOR.test(file))
    return { kind: 'device', message: 'is no regular file but a pipe, a socket or a device' }
  // With O_NONBLOCK nothing blocks, neither here nor at the end of the process. A regular file ignores the flag.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    return await readToEnd(handle, limits)
  } finally {
    await handle.close()
  }
}

async function readToEnd(handle: FileHandle, { largestBytes, pipeDeadlineMs, what }: Limits): Promise<Uint8Array | Wrong> {
  const buffer = new Uint8Array(largestBytes + 1)
  const endsAt = performance.now() + pipeDeadlineMs
  for (let length = 0; ;) {
    const got = await readSome(handle, buffer.subarray(length))
    if (got === 0) return buffer.subarray(0, length)
    length += got ?? 0
    if (length > largestBytes) return { kind: 'long', message: `is longer than the ${largestBytes} bytes that ${what} may have` }
    if (performance.now() > endsAt)
      return { kind: 'endless', message: `has not come to its end within ${pipeDeadlineMs / 1000}s` }
    if (got === undefined) await wait(ASK_PIPE_EVERY_MS)
  }
}

/** Undefined if no data is available yet. */
async function readSome(handle: FileHandle, into: Uint8Array): Promise<number | undefined> {
  try {
    return (await handle.read(into, 0, into.length, null)).bytesRead
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined
    throw error
  }
}
