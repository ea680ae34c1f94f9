import type { Writable } from 'node:stream'

/** An output for text: stdout or stderr. The output may be slow, and may disappear during a run. */
export interface Sink {
  readonly isTerminal: boolean
  readonly columns: number
  readonly rows: number
  /** True once text no longer arrives. */
  readonly isLost: boolean
  /** The number of characters that wait because the reader is slow. */
  readonly backlog: number
  /** Never throws and never blocks: a run continues without a reader of its output. */
  write(text: string): void
  /** Resolves when all text was taken, when the reader is gone, or after `limitMs`, where given. */
  flush(limitMs?: number): Promise<void>
}

type Output = Writable &
  Partial<Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'rows'>> & { _handle?: { setBlocking?(on: boolean): void } }

export function streamSink(stream: Output, onLost: (error: NodeJS.ErrnoException) => void = () => {}): Sink {
  let isLost = false
  // Node blocks the event loop while it writes to a terminal: Ctrl-S or a stalled ssh would stop the run, and the renewal of its Lease.
  // Node has no public call to change that.
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
      // A file has accepted or refused the text already. The refusal arrives as an event, before which the process must not end.
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
