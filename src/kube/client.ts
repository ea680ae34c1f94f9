import type { PatchOperation } from '../pods/patch-operation.ts'

export type { PatchOperation }

export interface CallOptions {
  /** Milliseconds until the call is given up; a write is then ambiguous. Default 15,000. */
  deadlineMs?: number
  signal?: AbortSignal
  /** Sent once: a 429 is the answer, and not waited out. For a write that rests on what may be another by then. */
  once?: boolean
  /** Given the headers of a good answer, by their names in lower case. */
  onHeaders?: (headers: Readonly<Record<string, string>>) => void
}

export interface WriteOptions extends CallOptions {
  /**
   * Called right before the bytes leave, on the connected socket. What it throws ends the call as a KubeError of kind `definite`. Of the
   * transports, the pooled one calls it.
   */
  beforeSend?: () => void
  /** Asked before a write that was throttled is sent again; what it throws ends the call. */
  beforeAgain?: () => void | Promise<void>
  /** The server admits and validates, and stores nothing. */
  dryRun?: boolean
}

export interface DeleteOptions extends CallOptions {
  /** Only the object as it was read then; else a KubeError of kind `conflict`. */
  resourceVersion?: string
}

export interface WatchOptions {
  signal: AbortSignal
  /** Each line of the stream, not parsed. */
  onLine: (line: string) => void
  /** The server has begun to answer. */
  onOpen?: () => void
}

/**
 * Calls to an API server. Every call has a deadline, answers with the parsed JSON body, and rejects with a
 * KubeError (errors.ts) and nothing else, but for what `beforeAgain` throws. A 429 (and a 503 that carries Retry-After on a read) is waited out
 * within the deadline; nothing else is repeated.
 */
export interface KubeClient {
  get(path: string, options?: CallOptions): Promise<unknown>
  create(path: string, body: unknown, options?: WriteOptions): Promise<unknown>
  replace(path: string, body: unknown, options?: WriteOptions): Promise<unknown>
  patch(path: string, operations: PatchOperation[], options?: WriteOptions): Promise<unknown>
  delete(path: string, options?: DeleteOptions): Promise<unknown>
  /** Resolves when the server closed the stream in order. */
  watch(path: string, options: WatchOptions): Promise<void>
}
