import { LIMITS } from '../rules/limits.ts'

/** One look at the place where the rules come from. */
export type Look =
  /** `isEtagWrong`: another document came before with the same ETag. */
  | { readonly is: 'document'; readonly bytes: Uint8Array; readonly isEtagWrong?: true }
  /** The document is that of the last look that had one. */
  | { readonly is: 'unchanged' }
  /** The source answers, and has no such document. */
  | { readonly is: 'missing'; readonly lacks: Lacks }
  | { readonly is: 'too-large'; readonly limitBytes: number }
  | { readonly is: 'away'; readonly fault: SourceFault }

export type Lacks = 'file' | 'config-map' | 'key' | 'document'

/** The reason why a source cannot be read. `said` is the text of the system or of the API server. */
export type SourceFault =
  | { readonly code: 'unreadable'; readonly said: string }
  | { readonly code: 'no-answer'; readonly said: string }
  | { readonly code: 'timeout'; readonly afterMs: number }
  | { readonly code: 'distrusted'; readonly said: string }
  | { readonly code: 'status'; readonly status: number }
  | { readonly code: 'redirect'; readonly status: number }
  /** The answer has an encoding that the request does not accept. */
  | { readonly code: 'encoded'; readonly encoding: string }
  /** The answer is no JSON with a text at the place that `field` names. */
  | { readonly code: 'no-field'; readonly field: string }
  /** A file that the connection needs cannot be used: the CA, the token or the password. */
  | { readonly code: 'credential'; readonly file: string; readonly said: string }
  | { readonly code: 'api-refused'; readonly said: string }

/** Looks at the source until the signal, and tells each look. Does not reject. */
export type Follow = (onLook: (look: Look) => void, signal: AbortSignal) => Promise<void>

/** The largest document that is read. */
export const LARGEST_DOCUMENT_BYTES = LIMITS.documentBytes
