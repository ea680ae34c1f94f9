import type { ExitCode } from '../../library/exit-codes.ts'
import type { Invocation } from '../invocation.ts'
import type { Terminal } from '../terminal.ts'

/** What a command is given to register itself with. */
export interface CommandContext {
  invocation: Invocation
  terminal: Terminal
  /** Called once, by the action that ran. `whenLost` is the code where stdout, which was all that it did, could not be written. */
  onDone(code: ExitCode, whenLost?: ExitCode): void
}
