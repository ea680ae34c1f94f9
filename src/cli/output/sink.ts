import type { Writable } from 'node:stream'

/** Where text goes: stdout or stderr, which may be slow, and may go away in the middle of a run. */
export interface Sink {
  readonly isTerminal: boolean
  readonly columns: number
  readonly rows: number
  /** Nothing that is written arrives any more. */
  readonly isLost: boolean
  /** Characters that wait because the reader is slow. */
  readonly backlog: number
  /** Never throws and never blocks: a run goes on when nobody reads its output any more. */
  write(text: string): void
  /** Resolves when all was taken, when the reader is gone, or when `limitMs` have passed, where given. */
  flush(limitMs?: number): Promise<void>
}

type Output = Writable &
  Partial<Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'rows'>> & { _handle?: { setBlocking?(on: boolean): void } }

export function streamSink(stream: Output, onLost: (error: NodeJS.ErrnoException) => void = () => {}): Sink {
  let isLost = false
  // Node writes to a terminal with the event loop stopped: Ctrl-S or a stalled ssh would stop the run, its Lease too.
  // Node has no public call for this.
  stream._handle?.setBlocking?.(false)
  stream.on('error', (error) => {
    if (isLost) return
    isLost = true
    onLost(error)
  })
  return {
    get isTerminal() {
      return stream.isTTY === true
    },
    get columns() {
      return stream.columns || 80
    },
    get rows() {
      return stream.rows || 24
    },
    get isLost() {
      return isLost
    },
    get backlog() {
      return isLost ? 0 : stream.writableLength
    },
    write: (text) => {
      if (!isLost) stream.write(text)
    },
    flush: async (limitMs) => {
      // A file has taken what was written, or refused it: that comes as an event, and the process would end before it.
      await new Promise((resolve) => setImmediate(resolve))
      if (isLost || stream.writableLength === 0) return
      await new Promise<void>((resolve) => {
        const timer = limitMs === undefined ? undefined : setTimeout(resolve, limitMs)
        const finish = (): void => {
          clearTimeout(timer)
          resolve()
        }
        stream.once('error', finish)
        stream.write('', finish)
      })
    },
  }
}
