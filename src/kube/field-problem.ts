import type { z } from 'zod'
import { field } from './json.ts'

/** The problem of a kubeconfig field with the expected type. The value is left out, because it may be a secret. */
export function fieldProblem(issue: z.core.$ZodIssue, document: unknown): string {
  const name = issue.path.join('.') || 'it'
  const value = issue.path.reduce<unknown>((within, key) => field(within, String(key)), document)
  const is = value === undefined ? 'is missing' : `is ${value === '' ? 'empty' : kindOf(value)}`
  if (issue.code === 'invalid_type') return `${name} ${is}, and must be ${nounOf(issue.expected)}`
  if (issue.code === 'invalid_value') return `${name} must be one of ${issue.values.map(String).join(', ')}`
  if (issue.code === 'too_small') return `${name} ${is}, and must be given`
  return `${name}: ${issue.message}`
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'a list' : nounOf(typeof value)
}

const NOUNS: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
}

function nounOf(type: string): string {
  return NOUNS[type] ?? type
}
