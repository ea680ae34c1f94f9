/**
 * The document that was accepted last, kept over a restart. The first line of the file names the source of the document, and the exact bytes
 * of the document follow.
 */

import { constants } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { readBounded } from '../../config/read-bounded.ts'
import { LARGEST_DOCUMENT_BYTES } from './look.ts'

/** `name` is for people, and `digest` tells sources with the same name apart. */
export interface CacheSource {
  readonly name: string
  readonly digest: string
}

/** `foreign`: the file holds a document of another source, or no name of a source. `of` is its name. */
export type CacheContent = { readonly bytes: Uint8Array } | { readonly foreign: true; readonly of: string | undefined }

const FIRST_LINE = /^# sluice rules cache (\{.*\})$/
const NEWLINE = 0x0a
const LONGEST_FIRST_LINE_BYTES = 1 << 16
const LIMITS = {
  largestBytes: LARGEST_DOCUMENT_BYTES + LONGEST_FIRST_LINE_BYTES,
  pipeDeadlineMs: 1000,
  what: 'a cache of rules',
}
/** Rules say who gets traffic: the file is for its owner alone. */
const MODE = 0o600

/** Undefined if there is no such file. Throws where it cannot be read. */
export async function readCache(file: string, source: CacheSource): Promise<CacheContent | undefined> {
  try {
    const bytes = await readBounded(file, LIMITS)
    if (bytes instanceof Uint8Array) return contentOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), source)
    throw new Error(`${file} ${bytes.message}`)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Replaces the file at once: a reader, or a process that starts after a crash, finds the old or the new document. */
export async function writeCache(file: string, { name, digest }: CacheSource, bytes: Uint8Array): Promise<void> {
  const written = `${file}.${process.pid}.new`
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW
  try {
    const handle = await open(written, flags, MODE)
    try {
      const firstLine = `# sluice rules cache ${JSON.stringify({ source: name, digest })}\n`
      await handle.writeFile(Buffer.concat([Buffer.from(firstLine), bytes]))
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

function contentOf(whole: Buffer, source: CacheSource): CacheContent {
  const end = whole.subarray(0, LONGEST_FIRST_LINE_BYTES).indexOf(NEWLINE)
  const written = FIRST_LINE.exec(whole.toString('utf8', 0, Math.max(end, 0)))?.[1]
  if (written === undefined) return { foreign: true, of: undefined }
  let named: { source?: unknown; digest?: unknown }
  try {
    named = JSON.parse(written) as typeof named
  } catch {
    return { foreign: true, of: undefined }
  }
  if (named.digest === source.digest) return { bytes: whole.subarray(end + 1) }
  return { foreign: true, of: typeof named.source === 'string' ? named.source : undefined }
}
