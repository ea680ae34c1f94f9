import type { Reason } from '../reasons/reason.ts'
import { createWriting } from '../report/words/words.ts'
import type { Writing } from '../report/words/writing.ts'
import type { RequestError } from '../library/request/request-error.ts'
import { EXIT, type ExitCode } from '../library/exit-codes.ts'

/** An error in the form for the user. */
export interface Failure {
  code: ExitCode
  /** The lines for stderr. */
  lines: string[]
  /** The stack, for -v. */
  stack?: string
}

interface TypedError extends Error {
  component: string
  kind?: string
  /** The way to mend the error. */
  hint?: string
}

export interface Failing {
  /** True once a run has begun to write. Later failures are no preflight failures. */
  touched: boolean
  /** True for a plan or a dry run. Exit code 1 of these means "there are changes", so that no failure may use it. */
  plans?: boolean
}

/** Translates an error to an exit code and lines. An error without a component is a bug of sluice. */
export function failureOf(error: unknown, { touched, plans = false }: Failing, write: Writing = createWriting()): Failure {
  if (isTyped(error)) {
    if (error.name === 'UsageError' || error.name === 'RulesFromError')
      return { code: EXIT.usage, lines: error.message.split('\n').map((line) => `error: ${line}`) }
    if (error.name === 'RequestError') return { code: EXIT.usage, lines: requestLines(error as RequestError) }
    // Each line begins with file:line:column, so that editors and CI systems find the place.
    if (error.name === 'ConfigError' || error.name === 'RulesError') return { code: EXIT.usage, lines: error.message.split('\n') }
    const lines = errorLines(withCause(error, write))
    if (error.kind === 'conflict') return { code: EXIT.conflict, lines }
    if (error.kind === 'deadline') return { code: EXIT.deadline, lines }
    if (error.hint !== undefined) lines.push(`    ${error.hint}`)
    else if (!touched && saysNoApiServer(error))
      lines.push('    is this the right cluster? --context, --cluster and --kubeconfig name another')
    return { code: touched ? EXIT.failed : EXIT.preflight, lines }
  }
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  const stack = error instanceof Error ? error.stack : undefined
  return {
    code: plans ? EXIT.preflight : EXIT.failed,
    lines: [
      ...errorLines(message),
      'This is a bug in sluice. Please report it with the output of the same command under SLUICE_LOG=debug.',
    ],
    ...(stack === undefined ? {} : { stack }),
  }
}

/** An error that sluice expects names the component that failed. */
function isTyped(error: unknown): error is TypedError {
  return error instanceof Error && typeof (error as { component?: unknown }).component === 'string'
}

/** Reports whether no API server has answered. Each refusal of an API server has a reason. */
function saysNoApiServer(error: Error & { reason?: unknown }): boolean {
  return error.name === 'KubeError' && error.reason === undefined
}

/** Returns the message, with the message of its cause where that adds something. */
function withCause(error: TypedError, write: Writing): string {
  const { cause } = error
  const message = isReasoned(error) ? write.reason(error.reason) : error.message
  if (!(cause instanceof Error) || cause.message === '' || isReasoned(cause) || message.includes(cause.message)) return message
  return `${message}: ${cause.message}`
}

/** Errors of the engine and of workloads carry their reason as data. */
function isReasoned(error: object): error is { reason: Reason } {
  return 'reason' in error && typeof error.reason === 'object'
}

/** The command line is valid by itself, so the issues are flags that contradict the config. */
function requestLines({ issues }: RequestError): string[] {
  return issues.map(
    ({ message, hint }) => `error: flags and config together: ${hint === undefined ? message : `${message}: ${hint}`}`,
  )
}

function errorLines(message: string): string[] {
  return message.split('\n').map((line, index) => (index === 0 ? `error: ${line}` : line))
}
