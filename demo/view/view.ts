import type { Colors } from '../../src/cli/output/color.ts'
import type { Sink } from '../../src/cli/output/sink.ts'
import type { ActResult } from '../acts/result.ts'

/** The display of an act in progress. */
export interface View {
  /** Shows the act in progress, several times a second. */
  update(result: ActResult): void
  /** Shows the finished act. */
  end(result: ActResult): void
  /** Removes temporary output, also in the middle of an act. */
  close(): void
}

export interface ViewDeps {
  out: Sink
  colors: Colors
}
