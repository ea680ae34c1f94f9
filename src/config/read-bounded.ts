/** The bytes of a file that somebody names: never more than it may have, and never waited for without an end. */
import { constants } from 'node:fs'
import { open, stat, type FileHandle } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'

const ASK_PIPE_EVERY_MS = 20

/** What `--config <(command)` and `command | sluice --config /dev/stdin` name: somebody writes there already. */
const DESCRIPTOR = /^\/(?:dev\/(?:stdin|fd\/\d+)|proc\/(?:self|\d+)\/fd\/\d+)$/

export interface Limits {
  largestBytes: number
  /** For what another process still writes. */
  pipeDeadlineMs: number
  /** Such as `a config`. */
  what: string
}

export interface Wrong {
  kind: 'directory' | 'device' | 'long' | 'endless'
  message: string
}

/** Throws what the file system says. */
export async function readBounded(file: string, limits: Limits): Promise<Uint8Array | Wrong> {
  const named = await stat(file)
  if (named.isDirectory()) return { kind: 'directory', message: 'is a directory' }
  // To open a pipe by its name is to wait for whoever writes there, and some devices do something when they are opened.
  if (!named.isFile() && !DESCRIPTOR.test(file))
    return { kind: 'device', message: 'is no regular file but a pipe, a socket or a device' }
  // Nothing waits then, neither here nor when the process ends; a regular file takes no notice of it.
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

/** Undefined where nothing is there yet. */
async function readSome(handle: FileHandle, into: Uint8Array): Promise<number | undefined> {
  try {
    return (await handle.read(into, 0, into.length, null)).bytesRead
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined
    throw error
  }
}
