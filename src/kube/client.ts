import type { PatchOperation } from '../pods/patch-operation.ts'

export type { PatchOperation }

export interface CallOptions {
  /** Time limit of the call in milliseconds; a write that reaches it is ambiguous. Default 15,000. */
  deadlineMs?: number
  signal?: AbortSignal
  /** Sends the request once: a 429 is not retried. For a write whose basis may change during the wait. */
  once?: boolean
  /** Called with the headers of a successful answer; names are in lower case. */
  onHeaders?: (headers: Readonly<Record<string, string>>) => void
}

export interface WriteOptions extends CallOptions {
  /**
   * Called right before the bytes leave, on the connected socket. An exception ends the call as a KubeError of kind `definite`. Only the
   * pooled transport calls it.
   */
  beforeSend?: () => void
  /** Called before a throttled write is sent again; an exception ends the call. */
  beforeAgain?: () => void | Promise<void>
  /** The server admits and validates the write, and stores nothing. */
  dryRun?: boolean
}

export interface DeleteOptions extends CallOptions, Pick<WriteOptions, 'beforeSend'> {
  /** Delete only this version of the object; otherwise the call rejects with a KubeError of kind `conflict`. */
  resourceVersion?: string
}

export interface WatchOptions {
  signal: AbortSignal
  /** Called with each line of the stream, unparsed. */
  onLine: (line: string) => void
  /** Called when the server begins to answer. */
  onOpen?: () => void
}

/**
 * Calls to an API server. Every call has a deadline, resolves with the parsed JSON body, and rejects with a KubeError (errors.ts) only,
 * except for errors of `beforeAgain`. A 429, or a 503 with Retry-After on a read, is retried within the deadline; other failures are not.
 */
export interface KubeClient {
  get(path: string, options?: CallOptions): Promise<unknown>
  create(path: string, body: unknown, options?: WriteOptions): Promise<unknown>
  replace(path: string, body: unknown, options?: WriteOptions): Promise<unknown>
  patch(path: string, operations: PatchOperation[], options?: WriteOptions): Promise<unknown>
  delete(path: string, options?: DeleteOptions): Promise<unknown>
  /** Resolves when the server has closed the stream in an orderly way. */
  watch(path: string, options: WatchOptions): Promise<void>
}
