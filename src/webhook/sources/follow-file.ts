import { type FSWatcher, watch } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { readBounded } from '../../config/read-bounded.ts'
import type { Clock } from '../../ports/clock.ts'
import { type Follow, LARGEST_DOCUMENT_BYTES, type Look } from './look.ts'

export interface FollowFileOptions {
  path: string
  clock: Clock
  /** The time between two looks. A watch of the folder makes most looks sooner, but misses changes behind symbolic links. */
  everyMs: number
}

const LIMITS = { largestBytes: LARGEST_DOCUMENT_BYTES, pipeDeadlineMs: 1000, what: 'a document of rules' }
/** A look counts once a second look after this time is equal: a program may be in the middle of a write, or of a replacement. */
const SETTLED_AFTER_MS = 500
/** Other files of the folder may change all the time. */
const SHORTEST_PAUSE_MS = 100

/** Follows a file: one that is replaced or edited, and one of a mounted ConfigMap, whose folder is swapped by a symbolic link. */
export function followFile({ path, clock, everyMs }: FollowFileOptions): Follow {
  const folder = dirname(resolve(path))

  return async (onLook, signal) => {
    let wake = (): void => {}
    let hasChanged = false
    const watching = watchFolder(folder, () => {
      hasChanged = true
      wake()
    })

    /** Resolves after the time, by a change in the folder where `isWatched`, or by the signal. */
    function pause(delayMs: number, isWatched: boolean): Promise<void> {
      return new Promise((done) => {
        if (signal.aborted) return done()
        const end = (): void => {
          clock.clearTimeout(timer)
          signal.removeEventListener('abort', end)
          wake = () => {}
          done()
        }
        const timer = clock.setTimeout(end, delayMs)
        signal.addEventListener('abort', end)
        if (isWatched) wake = end
      })
    }

    let told: Look | undefined
    while (!signal.aborted) {
      await watching.renew()
      hasChanged = false
      let look = await lookAt(path)
      if (told === undefined || !isSame(look, told)) {
        for (let before: Look | undefined; !signal.aborted && !(before && isSame(before, look)); look = await lookAt(path)) {
          before = look
          await pause(SETTLED_AFTER_MS, false)
        }
        if (signal.aborted) break
      }
      onLook(look.is === 'document' && told !== undefined && isSame(look, told) ? { is: 'unchanged' } : look)
      told = look
      await pause(SHORTEST_PAUSE_MS, false)
      if (!hasChanged) await pause(everyMs, true)
    }
    watching.close()
  }
}

async function lookAt(path: string): Promise<Look> {
  try {
    const bytes = await readBounded(path, LIMITS)
    if (bytes instanceof Uint8Array) return { is: 'document', bytes }
    if (bytes.kind === 'long') return { is: 'too-large', limitBytes: LIMITS.largestBytes }
    return { is: 'away', fault: { code: 'unreadable', said: bytes.message } }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return { is: 'missing', lacks: 'file' }
    return { is: 'away', fault: { code: 'unreadable', said: message } }
  }
}

function isSame(one: Look, other: Look): boolean {
  if (one.is === 'document' && other.is === 'document') return Buffer.compare(one.bytes, other.bytes) === 0
  return one.is === other.is
}

interface FolderWatch {
  /** Watches the folder anew where another one has its name, or where the watch has ended. */
  renew(): Promise<void>
  close(): void
}

function watchFolder(folder: string, onEvent: () => void): FolderWatch {
  let watcher: FSWatcher | undefined
  let watched: number | undefined

  function close(): void {
    watcher?.close()
    watcher = undefined
  }

  return {
    async renew() {
      const found = await stat(folder).then(
        ({ ino }) => ino,
        () => undefined,
      )
      if (found === watched && watcher !== undefined) return
      close()
      watched = found
      if (found === undefined) return
      try {
        watcher = watch(folder, onEvent)
        // The looks from time to time go on without the watch.
        watcher.on('error', close)
      } catch {
        // The system has no more watches.
      }
    },
    close,
  }
}
