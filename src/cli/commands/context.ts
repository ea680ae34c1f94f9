import type { ExitCode } from '../../library/exit-codes.ts'
import type { Invocation } from '../invocation.ts'
import type { Terminal } from '../terminal.ts'

/** The context that a command registers with. */
export interface CommandContext {
  invocation: Invocation
  terminal: Terminal
  /**
   * Called once, by the action that ran. `whenLost` is the exit code of a command whose only result was its stdout, where stdout could
   * not be written.
   */
  onDone(code: ExitCode, whenLost?: ExitCode): void
}
