import { createLogUpdate } from 'log-update'

/** Lines at the end of the output that are redrawn in place. */
export interface Frame {
  draw(text: string): void
  /** Removes the frame. The next text takes its place. */
  clear(): void
}

export interface FrameOutput {
  readonly columns: number
  readonly rows: number
  write(text: string): void
}

export function createFrame(out: FrameOutput): Frame {
  // The hidden cursor of log-update would write to stderr and listen to signals.
  const draw = createLogUpdate(asStream(out), { showCursor: true })
  return { draw, clear: draw.clear }
}

/** The only parts of a stream that log-update reads. */
function asStream(out: FrameOutput): NodeJS.WritableStream {
  return {
    isTTY: true,
    get columns() {
      return out.columns
    },
    get rows() {
      return out.rows
    },
    write: (text: string) => {
      out.write(text)
      return true
    },
  } as unknown as NodeJS.WritableStream
}
