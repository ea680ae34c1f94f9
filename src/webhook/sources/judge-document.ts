import { createHash, type KeyObject } from 'node:crypto'
import type { RuleSet } from '../rules/rule-set.ts'
import { RulesError, type RulesIssue } from '../rules/rules-error.ts'
import type { RefusedDocument, SignatureFault } from './rules-source.ts'
import { checkSignature } from './signature.ts'

/** A document that may come into force. */
export interface Accepted {
  readonly rules: RuleSet
  readonly bytes: Uint8Array
  readonly hash: string
}

export interface Judgement {
  /** @throws RulesError */
  parse(text: string): RuleSet
  /** Without keys, a document needs no signature, and may have any version. */
  keys: readonly KeyObject[] | undefined
  /** The document that was accepted last. */
  last: Accepted | undefined
}

/** A number that both a person and a program count up without an error. */
const NUMBER = /^(0|[1-9]\d{0,14})$/

/** Beginning of a hash, for people. */
const SHOWN = 12

export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Checks a document as a whole: its signature, its text, its rules, and that it is no older one than the last. */
export function judgeDocument(bytes: Uint8Array, { parse, keys, last }: Judgement): Accepted | RefusedDocument {
  const hash = hashOf(bytes)
  const shown = hash.slice(0, SHOWN)
  const refusedFor = (because: SignatureFault): RefusedDocument => ({ code: 'signature-refused', hash: shown, because })
  if (keys !== undefined) {
    const signature = checkSignature(bytes, keys)
    if (signature !== 'right') return refusedFor(signature)
  }
  let rules: RuleSet
  try {
    rules = parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    return { code: 'document-refused', hash: shown, mistakes: mistakesOf(error) }
  }
  const accepted = { rules, bytes, hash }
  if (keys === undefined) return accepted
  if (!NUMBER.test(rules.version)) return refusedFor('unnumbered')
  if (last === undefined || last.hash === hash) return accepted
  const [number, lastNumber] = [Number(rules.version), Number(last.rules.version)]
  if (number < lastNumber) return refusedFor('older')
  return number === lastNumber ? refusedFor('reused') : accepted
}

function mistakesOf(error: unknown): readonly RulesIssue[] {
  if (error instanceof RulesError) return error.issues
  // The bytes are no text.
  return [{ path: '', message: (error as Error).message, line: 0, column: 0 }]
}
