/** Reads a file that holds a secret or a certificate: at once and whole, or not at all. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

/** Headers of more than 16 KiB are sent nowhere; all the certificates of a system are some 200 KiB. */
const LARGEST_BYTES = 1 << 20

/** What is read for a request must not make it wait: a pipe without a writer did, for ever. Throws why it cannot be read. */
export function readCredentialFile(file: string): Buffer {
  // O_NONBLOCK: else opening a pipe waits for its writer.
  const opened = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    if (!fstatSync(opened).isFile()) throw new Error('it is no regular file')
    const buffer = Buffer.allocUnsafe(LARGEST_BYTES + 1)
    let length = 0
    for (let got = -1; got !== 0 && length < buffer.length; length += got)
      got = readSync(opened, buffer, length, buffer.length - length, null)
    if (length > LARGEST_BYTES) throw new Error(`it is longer than ${LARGEST_BYTES} bytes`)
    return buffer.subarray(0, length)
  } finally {
    closeSync(opened)
  }
}

/** For a message: a code of the system in short, our own reasons in full. */
export function whyUnreadable(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return code ?? message
}
