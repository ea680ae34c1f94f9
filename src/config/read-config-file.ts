/** The bytes of the config file: never more than a config may have, and never waited for without an end. */
import { constants } from 'node:fs'
import { open, stat, type FileHandle } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { ConfigError } from './config-error.ts'

/** A config is a page or two; whatever is larger than this is another file. */
const LARGEST_FILE_BYTES = 1 << 18
/** Whoever prints a config may have to decrypt it first. */
const PIPE_DEADLINE_MS = 10_000
const ASK_PIPE_EVERY_MS = 20

/** What `--config <(command)` and `command | sluice --config /dev/stdin` name: somebody writes there already. */
const DESCRIPTOR = /^\/(?:dev\/(?:stdin|fd\/\d+)|proc\/(?:self|\d+)\/fd\/\d+)$/

const CHOICE = 'name the config with --config FILE or SLUICE_CONFIG; without either it is ./sluice.yaml'
const RIGHT_FILE = 'is this the right file?'
const FROM_COMMAND = 'write the config into a file, or hand over what a command prints with --config <(COMMAND)'

const REASONS: Record<string, string> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file: a part of its path is a file, not a directory',
  ELOOP: 'leads nowhere: its symbolic links go round in a circle',
  ENAMETOOLONG: 'there is no such file: the name is longer than one may be',
  EISDIR: 'is a directory',
  EACCES: 'may not be read (permission denied)',
  EPERM: 'may not be read (permission denied)',
  ENXIO: 'is a socket or a device that nobody serves, not a file',
  ENODEV: 'is a socket or a device that nobody serves, not a file',
}

interface Wrong {
  message: string
  hint: string
}

/** Throws a ConfigError. `pipeDeadlineMs` is for what another process still writes. */
export async function readConfigFile(file: string, { pipeDeadlineMs = PIPE_DEADLINE_MS } = {}): Promise<Uint8Array> {
  const fail = ({ message, hint }: Wrong, cause?: unknown): never => {
    throw new ConfigError(file, [{ path: '', message, hint, line: 0, column: 0 }], { cause })
  }
  if (file === '') fail({ message: 'is no name of a file', hint: CHOICE })
  const read = await readBounded(file, pipeDeadlineMs).catch((error: NodeJS.ErrnoException) =>
    fail({ message: REASONS[error.code ?? ''] ?? `cannot be read: ${error.message}`, hint: CHOICE }, error),
  )
  return read instanceof Uint8Array ? read : fail(read)
}

async function readBounded(file: string, pipeDeadlineMs: number): Promise<Uint8Array | Wrong> {
  const named = await stat(file)
  if (named.isDirectory()) return { message: 'is a directory', hint: CHOICE }
  // To open a pipe by its name is to wait for whoever writes there, and some devices do something when they are opened.
  if (!named.isFile() && !DESCRIPTOR.test(file))
    return { message: 'is no regular file but a pipe, a socket or a device', hint: FROM_COMMAND }
  // Nothing waits then, neither here nor when the process ends; a regular file takes no notice of it.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    return await readToEnd(handle, pipeDeadlineMs)
  } finally {
    await handle.close()
  }
}

async function readToEnd(handle: FileHandle, pipeDeadlineMs: number): Promise<Uint8Array | Wrong> {
  const buffer = new Uint8Array(LARGEST_FILE_BYTES + 1)
  const endsAt = performance.now() + pipeDeadlineMs
  for (let length = 0; ;) {
    const got = await readSome(handle, buffer.subarray(length))
    if (got === 0) return buffer.subarray(0, length)
    length += got ?? 0
    if (length > LARGEST_FILE_BYTES)
      return { message: `is longer than the ${LARGEST_FILE_BYTES} bytes that a config may have`, hint: RIGHT_FILE }
    if (performance.now() > endsAt)
      return { message: `has not come to its end within ${pipeDeadlineMs / 1000}s`, hint: FROM_COMMAND }
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
