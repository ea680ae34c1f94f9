/** Reads a kubeconfig or a file that it names, with a limit on its size and on the waiting time. */
import { closeSync, constants, openSync, readSync, statSync } from 'node:fs'

/** A kubeconfig of a thousand clusters, or the full list of CAs of a machine, has a few megabytes. */
const LARGEST_FILE_BYTES = 1 << 23
const CHUNK_BYTES = 1 << 16
/** The command that prints a kubeconfig may have to decrypt it first. The synchronous read handles no signals meanwhile. */
const PIPE_DEADLINE_MS = 10_000
const ASK_PIPE_EVERY_MS = 20

/** The paths of `--kubeconfig <(command)` and `command | sluice --kubeconfig /dev/stdin`, whose writer is running already. */
const DESCRIPTOR = /^\/(?:dev\/(?:stdin|fd\/\d+)|proc\/(?:self|\d+)\/fd\/\d+)$/
/** An empty kubeconfig, for kubectl too. */
const EMPTY = '/dev/null'

/** Throws an error that names the problem. `pipeDeadlineMs` is the time limit for the output of another process. */
export function readNamedFile(file: string, { pipeDeadlineMs = PIPE_DEADLINE_MS } = {}): Buffer {
  const named = statSync(file)
  // Opening a named pipe waits for a writer. Reading a directory gives a clear error by itself.
  if (!named.isFile() && !named.isDirectory() && !DESCRIPTOR.test(file) && file !== EMPTY)
    throw new Error(`${JSON.stringify(file)} is no regular file but a pipe, a socket or a device`)
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    return readToEnd(descriptor, { file: JSON.stringify(file), pipeDeadlineMs })
  } finally {
    closeSync(descriptor)
  }
}

function readToEnd(descriptor: number, { file, pipeDeadlineMs }: { file: string; pipeDeadlineMs: number }): Buffer {
  const chunks: Buffer[] = []
  const endsAt = performance.now() + pipeDeadlineMs
  for (let length = 0; ;) {
    const chunk = readSome(descriptor)
    if (chunk?.length === 0) return Buffer.concat(chunks)
    if (chunk !== undefined) chunks.push(chunk)
    length += chunk?.length ?? 0
    if (length > LARGEST_FILE_BYTES) throw new Error(`${file} is longer than the ${LARGEST_FILE_BYTES} bytes that it may have`)
    if (performance.now() > endsAt) throw new Error(`${file} has not come to its end within ${pipeDeadlineMs / 1000}s`)
    if (chunk === undefined) pause(ASK_PIPE_EVERY_MS)
  }
}

/** Undefined if no data is available yet. */
function readSome(descriptor: number): Buffer | undefined {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  try {
    return chunk.subarray(0, readSync(descriptor, chunk, 0, CHUNK_BYTES, null))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined
    throw error
  }
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
