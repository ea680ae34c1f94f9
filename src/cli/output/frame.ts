import { createLogUpdate } from 'log-update'

/** Some lines at the end of the output that are drawn anew in place. */
export interface Frame {
  draw(text: string): void
  /** Takes it away; what is written next stands in its place. */
  clear(): void
}

export interface FrameOutput {
  readonly columns: number
  readonly rows: number
  write(text: string): void
}

export function createFrame(out: FrameOutput): Frame {
  // log-update's own hiding of the cursor would write to stderr and listen for signals.
  const draw = createLogUpdate(asStream(out), { showCursor: true })
  return { draw, clear: draw.clear }
}

/** log-update reads no more of a stream than this. */
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
