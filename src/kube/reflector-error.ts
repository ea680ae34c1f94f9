import { field } from './json.ts'

/**
 * - `malformed`: an object, a line or a list was not readable; an event may be lost with it
 * - `expired`: the server no longer has the versions since the last one seen (410)
 * - `server`: the server ended the stream with an error
 * - `silent`: no answer
 * - `quiet`: no line for longer than the interval of bookmarks; usually the collection has not changed, and the server sends no bookmarks
 *   either
 * - `closed`: the server closed the stream at once, without content
 * - `held`: the watch does not deliver the news of lists, which replace it
 * - `handler`: `onEvent` threw
 * - `stopped`: ended before the first list
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

/** A problem with the list and watch of one collection. Failed calls are KubeErrors instead. */
export class ReflectorError extends Error {
  override readonly name = 'ReflectorError'
  readonly component = 'reflector'
  readonly problem: ReflectorProblem
  /** The path of the collection. */
  readonly path: string
  /** The metadata of an unreadable object, as the API server sent it. It is not logged, because it may be large. */
  readonly metadata!: unknown
  constructor(message: string, fields: { problem: ReflectorProblem; path: string; cause?: unknown; metadata?: unknown }) {
    super(message, { cause: fields.cause })
    Object.defineProperty(this, 'metadata', { value: fields.metadata, enumerable: false })
    this.problem = fields.problem
    this.path = fields.path
  }
}

/** @param what `object`: the raw object that the problem is about */
export function reflectorProblem(
  path: string,
  problem: ReflectorProblem,
  message: string,
  { cause, object }: { cause?: unknown; object?: unknown } = {},
): ReflectorError {
  return new ReflectorError(`${path}: ${message}`, { problem, path, cause, metadata: field(object, 'metadata') })
}
