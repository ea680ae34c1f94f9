/** The document that was accepted last, kept over a restart. The file has its exact bytes. */
import { constants } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { readBounded } from '../../config/read-bounded.ts'
import { LARGEST_DOCUMENT_BYTES } from './look.ts'

const LIMITS = { largestBytes: LARGEST_DOCUMENT_BYTES, pipeDeadlineMs: 1000, what: 'a document of rules' }
/** Rules say who gets traffic: the file is for its owner alone. */
const MODE = 0o600

/** Undefined if there is no such file. Throws where it cannot be read. */
export async function readCache(file: string): Promise<Uint8Array | undefined> {
  try {
    const bytes = await readBounded(file, LIMITS)
    if (bytes instanceof Uint8Array) return bytes
    throw new Error(`${file} ${bytes.message}`)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Replaces the file at once: a reader, or a process that starts after a crash, finds the old or the new document. */
export async function writeCache(file: string, bytes: Uint8Array): Promise<void> {
  const written = `${file}.${process.pid}.new`
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW
  try {
    const handle = await open(written, flags, MODE)
    try {
      await handle.writeFile(bytes)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(written, file)
  } catch (error) {
    await rm(written, { force: true }).catch(() => {})
    throw error
  }
}
