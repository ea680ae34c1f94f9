/**
 * A file as a document, on this host or another one. Its version is the identity of the file (inode, time of its last change) and the
 * SHA-256 of its content. A write takes a lock, compares the version, and renames a new file over the old one. So a writer that was stopped
 * after its read cannot overwrite a newer file.
 */
import { createHash } from 'node:crypto'
import { AdapterError } from '../contract.ts'
import { createHost, type ScriptCall } from '../host/host.ts'
import type { Document } from './document.ts'
import { readProblem, writeProblem } from './file-problems.ts'
import { readScript, writeScript } from './file-scripts.ts'

/** The maximum wait for the lock in milliseconds, and at most half the time of the call. A holder needs it only for milliseconds. */
const LONGEST_LOCK_WAIT_MS = 5_000

export interface FileDocumentOptions {
  /** The start of each error message. */
  component: string
  /** An absolute path. For a symbolic link, its target is written and the link stays. */
  path: string
  /** A command that leads to the host of the file, such as `['ssh', 'lb1']`. Default: this host. */
  prefix?: readonly string[]
  /**
   * The folder for the new file before the rename. It must be on the same file system. Default: the folder of the file. A product that
   * watches the folder of the file needs another one.
   */
  temporaryFolder?: string
  /** `latin1`: each byte is one character, so that any file can be read. Default: `utf8`. */
  encoding?: 'utf8' | 'latin1'
}

export interface FileDocument extends Document {
  /** `guard` is a script that runs under the lock, right before the comparison. If it fails, the error is `conflict`. */
  write(text: string, version: string, call: ScriptCall, guard?: string): Promise<string>
}

export function createFileDocument(options: FileDocumentOptions): FileDocument {
  const { component, path, prefix = [], temporaryFolder, encoding = 'utf8' } = options
  const host = createHost({ component, prefix })
  const at = { file: prefix.length === 0 ? path : `${path} on ${host.name}`, temporaryFolder }

  return {
    identity: [...prefix, path].join(' '),

    async read(call) {
      const { status, output } = await host.run(readScript(path), call)
      if (status !== 0) throw readProblem(component, at, status, output.toString('utf8'))
      const end = output.indexOf('\n')
      const content = output.subarray(end + 1)
      const text = content.toString(encoding)
      if (!Buffer.from(text, encoding).equals(content)) throw new AdapterError(component, 'fatal', `${at.file} is no UTF-8`)
      return { text, version: versionOf(output.toString('latin1', 0, end), sumOf(content)) }
    },

    async write(text, version, call, guard) {
      const content = Buffer.from(text, encoding)
      const [file, replacedSum] = JSON.parse(version) as [string, string]
      const sum = sumOf(content)
      const lockWaitMs = Math.min(LONGEST_LOCK_WAIT_MS, call.deadlineMs / 2)
      const script = writeScript({ path, temporaryFolder, content, replaced: { file, sum: replacedSum }, sum, lockWaitMs, guard })
      const { status, output } = await host.run(script, call, { hasEffect: true })
      if (status !== 0) throw writeProblem(component, at, status, output.toString('utf8'))
      return versionOf(output.toString('latin1').trim(), sum)
    },
  }
}

const LONGEST_READ_MS = 5_000

/** The context of a read outside of a call of the engine. */
export function readCall(): ScriptCall {
  return { deadlineMs: LONGEST_READ_MS, assertLive: () => {}, signal: AbortSignal.timeout(LONGEST_READ_MS) }
}

/**
 * The version includes the identity of the file. With the content alone, a late write would succeed if others had put the old text back.
 */
function versionOf(file: string, sum: string): string {
  return JSON.stringify([file, sum])
}

function sumOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}
