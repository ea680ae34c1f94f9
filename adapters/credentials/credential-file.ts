/** Reads a file with a secret or a certificate. It reads the complete file without waiting, or fails. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

/** The maximum size in bytes. No server accepts headers over 16 KiB, and all certificates of a system need about 200 KiB. */
const LARGEST_BYTES = 1 << 20

/** Reads the file without waiting, because a request depends on it: a pipe without a writer would block forever. Throws with the reason. */
export function readCredentialFile(file: string): Buffer {
  // Without O_NONBLOCK, the open of a pipe waits for a writer.
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

/** The reason for a message: the code of a system error, or the message of any other error. */
export function whyUnreadable(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return code ?? message
}
