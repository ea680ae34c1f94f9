import type { Colors } from '../../src/cli/output/color.ts'
import type { Sink } from '../../src/cli/output/sink.ts'
import type { ActResult } from '../acts/result.ts'

/** What a person sees of an act while it goes on. */
export interface View {
  /** The act as it stands, some times a second. */
  update(result: ActResult): void
  /** The act as it was. */
  end(result: ActResult): void
  /** Takes away what is not to stay; also in the middle of an act. */
  close(): void
}

export interface ViewDeps {
  out: Sink
  colors: Colors
}
