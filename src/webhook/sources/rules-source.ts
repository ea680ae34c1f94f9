import type { RuleSet } from '../rules/rule-set.ts'
import type { RulesIssue } from '../rules/rules-error.ts'
import type { Lacks, SourceFault } from './look.ts'

/** The rules of the webhook, followed in their source while the process runs. */
export interface RulesSource {
  /**
   * The rules in force: one immutable object for each accepted version. A decision reads them once, so that it rests on one version.
   * Undefined until a version was accepted: nothing is decided then.
   */
  current(): RuleSet | undefined
  state(): RulesState
  /** What is wrong with the source or the cache. Undefined where the source shows the rules in force, and no others. */
  problem(): RulesProblem | undefined
  /** Calls the listener after each change of the rules in force or of the problem. The returned function ends the calls. */
  onChange(listener: (change: RulesChange) => void): () => void
  /** Resolves once the cache and the source were looked at, with or without success; also by the signal. */
  settled: Promise<void>
  /** Resolves after the signal, once nothing is read or written any more. */
  ended: Promise<void>
}

/** Instants are in milliseconds since 1970. */
export interface RulesState {
  readonly rules?: RuleSet
  /** Set with `rules`. `cache`: the source has not shown an acceptable version since the process began. */
  readonly from?: 'source' | 'cache'
  /** The instant at which the rules in force were accepted by this process. */
  readonly acceptedAt?: number
  /** The time since the source has last shown the rules in force; since the process began where it never has. */
  readonly unconfirmedMs: number
  readonly problem?: RulesProblem
}

/** What has changed, for the log and the metrics. */
export type RulesChange =
  | { readonly code: 'rules-accepted'; readonly version: string; readonly from: 'source' | 'cache'; readonly replaced?: string }
  | { readonly code: 'rules-problem'; readonly problem: RulesProblem }
  /** The source shows the rules in force again, and no others. */
  | { readonly code: 'rules-problem-over'; readonly version: string }
  /** The server of the URL gave one ETag to different documents. From now on, each request asks for the whole document. */
  | { readonly code: 'rules-etag-wrong' }

/** The rules in force stay in force with each of these. `hash` begins the SHA-256 of the refused document. */
export type RulesProblem =
  /** The source does not answer, or cannot be read. */
  | { readonly code: 'source-away'; readonly sinceAt: number; readonly fault: SourceFault }
  /** The source answers, and has no such document. */
  | { readonly code: 'document-missing'; readonly sinceAt: number; readonly lacks: Lacks }
  | { readonly code: 'document-too-large'; readonly limitBytes: number }
  | RefusedDocument
  /** The source shows these documents in turn: each comes into force again and again. `withinMs`: so long two returns count. */
  | {
      readonly code: 'rules-flap'
      readonly withinMs: number
      readonly documents: readonly { readonly hash: string; readonly version: string }[]
    }
  /** The cache cannot be read or written. */
  | { readonly code: 'cache-unusable'; readonly said: string }
  /** The document of an earlier process would be refused now. */
  | { readonly code: 'cache-refused'; readonly because: RefusedDocument }
  /** The cache holds a document of another source, or does not name its source. `of` is the name of that source. */
  | { readonly code: 'cache-foreign'; readonly of: string | undefined }

export type RefusedDocument =
  | { readonly code: 'document-refused'; readonly hash: string; readonly mistakes: readonly RulesIssue[] }
  | { readonly code: 'signature-refused'; readonly hash: string; readonly because: SignatureFault }

/**
 * - `none`: the last line of the document is no signature.
 * - `wrong`: the signature is not one of the key over these bytes.
 * - `unnumbered`: the version of a signed document is no whole number.
 * - `older`: the number is below that of a document that was accepted before.
 * - `reused`: another document with this number was accepted before.
 */
export type SignatureFault = 'none' | 'wrong' | 'unnumbered' | 'older' | 'reused'

/** True if a second report of the problem says nothing new. */
export function isSameProblem(one: RulesProblem | undefined, other: RulesProblem | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  if (one.code === 'source-away' && other.code === 'source-away') return one.fault.code === other.fault.code
  if (one.code === 'rules-flap' && other.code === 'rules-flap') return true
  if (one.code === 'document-missing' && other.code === 'document-missing') return one.lacks === other.lacks
  return JSON.stringify(one) === JSON.stringify(other)
}
