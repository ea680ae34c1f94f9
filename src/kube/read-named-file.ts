/** The files that a kubeconfig consists of or names: never more than one may have, and never waited for without an end. */
import { closeSync, constants, openSync, readSync, statSync } from 'node:fs'

/** A kubeconfig of a thousand clusters, or all authorities that a machine trusts, are a few megabytes. */
const LARGEST_FILE_BYTES = 1 << 23
const CHUNK_BYTES = 1 << 16
/** Whoever prints a kubeconfig may have to decrypt it first. No signal is heard meanwhile. */
const PIPE_DEADLINE_MS = 10_000
const ASK_PIPE_EVERY_MS = 20

/** What `--kubeconfig <(command)` and `command | sluice --kubeconfig /dev/stdin` name: somebody writes there already. */
const DESCRIPTOR = /^\/(?:dev\/(?:stdin|fd\/\d+)|proc\/(?:self|\d+)\/fd\/\d+)$/
/** As a kubeconfig it is an empty one, to kubectl too. */
const EMPTY = '/dev/null'

/** Throws with what is wrong. `pipeDeadlineMs` is for what another process still writes. */
export function readNamedFile(file: string, { pipeDeadlineMs = PIPE_DEADLINE_MS } = {}): Buffer {
  const named = statSync(file)
  // To open a pipe by its name is to wait for whoever writes there. A directory says for itself what it is.
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

/** Undefined where nothing is there yet. */
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
