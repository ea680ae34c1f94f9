import { field } from './json.ts'

/**
 * - `malformed`: an object, a line or a list could not be read; an event may be lost with it
 * - `expired`: the server no longer has the versions since the last one seen (410)
 * - `server`: the server ended the stream with an error of its own
 * - `silent`: no answer
 * - `quiet`: no line for longer than bookmarks need. Most often there is nothing to tell, not even those
 * - `closed`: the server closed the stream at once, with nothing in it
 * - `held`: the watch brings nothing of what lists tell, which stand in for it
 * - `handler`: `onEvent` threw
 * - `stopped`: ended before the first list was in
 * - `internal`: a mistake in the reflector
 */
export type ReflectorProblem =
  | 'malformed'
  | 'expired'
  | 'server'
  | 'silent'
  | 'quiet'
  | 'closed'
  | 'held'
  | 'handler'
  | 'stopped'
  | 'internal'

/** Something went wrong with the list and watch of one collection. Failed calls are KubeErrors instead. */
export class ReflectorError extends Error {
  override readonly name = 'ReflectorError'
  readonly component = 'reflector'
  readonly problem: ReflectorProblem
  /** Of the collection. */
  readonly path: string
  /** Of an object that could not be read, as the API server gave it. In no log: it may be large. */
  readonly metadata!: unknown
  constructor(message: string, fields: { problem: ReflectorProblem; path: string; cause?: unknown; metadata?: unknown }) {
    super(message, { cause: fields.cause })
    Object.defineProperty(this, 'metadata', { value: fields.metadata, enumerable: false })
    this.problem = fields.problem
    this.path = fields.path
  }
}

/** @param what `object`: the raw object that it is about */
export function reflectorProblem(
  path: string,
  problem: ReflectorProblem,
  message: string,
  { cause, object }: { cause?: unknown; object?: unknown } = {},
): ReflectorError {
  return new ReflectorError(`${path}: ${message}`, { problem, path, cause, metadata: field(object, 'metadata') })
}
