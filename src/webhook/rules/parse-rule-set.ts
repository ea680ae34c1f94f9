import { check, formatPath, type Finding } from '../../config/check.ts'
import { ConfigError } from '../../config/config-error.ts'
import { type ConfigDocument, parseDocument } from '../../config/document.ts'
import { digest } from '../../journal/digest.ts'
import { documentSchema, ownRuleSchema, usedRuleSchema } from './document-schema.ts'
import { compileExpression, type Expression, type Wanted } from './expression.ts'
import { LIMITS } from './limits.ts'
import type { Facts, Rule, RuleSet } from './rule-set.ts'
import { RulesError, type RulesIssue } from './rules-error.ts'
import { type RuleText, SHIPPED_RULES } from './shipped.ts'

const NEEDS = 'it needs at least apiVersion, kind and rules'

/**
 * Reads and checks a document of rules, in YAML or JSON. `source` names it in messages.
 * @throws RulesError with all mistakes
 */
export function parseRuleSet(text: string, source: string): RuleSet {
  const bytes = new TextEncoder().encode(text)
  if (bytes.length > LIMITS.documentBytes) {
    const message = `has ${bytes.length} bytes`
    throw new RulesError(source, [{ path: '', message, hint: `at most ${LIMITS.documentBytes}`, line: 0, column: 0 }])
  }
  const document = readDocument(source, bytes)
  const shape = check(documentSchema, document.value)
  const written = shape.ok ? shape.value.rules : rulesIn(document.value)
  const made = written.slice(0, LIMITS.rules).map((rule, index) => makeRule(rule, ['rules', index]))
  const findings = [
    ...(shape.ok ? [] : shape.findings),
    ...made.flatMap((one) => one.findings),
    ...repeatedNames(made.map(({ rule }) => rule?.name)),
  ]
  if (!shape.ok || findings.length > 0) throw new RulesError(source, issuesOf(findings, document))
  const { metadata, mode } = shape.value
  return {
    version: metadata?.version ?? `sha-${digest(text)}`,
    mode,
    rules: made.map(({ rule }) => rule!),
  }
}

function readDocument(source: string, bytes: Uint8Array): ConfigDocument {
  try {
    return parseDocument(source, bytes, NEEDS)
  } catch (error) {
    if (error instanceof ConfigError) throw new RulesError(source, error.issues, { cause: error })
    throw error
  }
}

/** The rules of a document that has other mistakes, so that all mistakes are named at once. */
function rulesIn(value: unknown): readonly unknown[] {
  const { rules } = value as { rules?: unknown }
  return Array.isArray(rules) ? (rules as unknown[]) : []
}

interface Made {
  readonly rule?: Rule
  readonly findings: readonly Finding[]
}

function makeRule(raw: unknown, prefix: readonly PropertyKey[]): Made {
  return isMapping(raw) && 'use' in raw ? makeUsed(raw, prefix) : makeOwn(raw, prefix)
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function makeOwn(raw: unknown, prefix: readonly PropertyKey[]): Made {
  const hintForUnknownKey = (key: string): string | undefined =>
    key === 'with' ? 'only a rule with use: has parameters' : undefined
  const shape = check(ownRuleSchema, raw, { prefix, hintForUnknownKey })
  if (!shape.ok) return { findings: [...shape.findings, ...expressionFindings(raw, prefix)] }
  const { name, when, effect, since, for: forMs } = shape.value
  const text = { when, effect, ...(since === undefined ? {} : { since }), ...(forMs === undefined ? {} : { forMs }) }
  const findings = keepFindings(text, prefix)
  const compiled = compileRule(name, text, prefix)
  return { ...compiled, findings: [...findings, ...compiled.findings] }
}

/** The mistakes in the expressions of a rule that has other mistakes too. */
function expressionFindings(raw: unknown, prefix: readonly PropertyKey[]): Finding[] {
  if (!isMapping(raw)) return []
  const fields = [['when', 'bool'] as const, ['since', 'timestamp'] as const]
  return fields.flatMap(([field, wanted]) => {
    const text = raw[field]
    return typeof text === 'string' ? compileField(text, wanted, [...prefix, field]).findings : []
  })
}

function keepFindings({ effect, since, forMs }: RuleText, prefix: readonly PropertyKey[]): Finding[] {
  if (effect === 'keepPrevious') {
    const lacks = [
      ...(since === undefined
        ? [['since', 'write since when, such as condition(pod, "Ready").lastTransitionTime'] as const]
        : []),
      ...(forMs === undefined ? [['for', 'write for how long, such as 2m'] as const] : []),
    ]
    return lacks.map(([field, hint]) => ({
      path: [...prefix, field],
      at: 'value',
      message: 'is missing, and effect: keepPrevious needs it',
      hint,
    }))
  }
  const extra = [...(since === undefined ? [] : ['since']), ...(forMs === undefined ? [] : ['for'])]
  return extra.map((field) => ({
    path: [...prefix, field],
    at: 'key',
    message: `means nothing with effect: ${effect}`,
    hint: 'remove it, or write effect: keepPrevious',
  }))
}

function makeUsed(raw: Record<string, unknown>, prefix: readonly PropertyKey[]): Made {
  const hintForUnknownKey = (key: string): string | undefined =>
    ['when', 'effect', 'since', 'for'].includes(key) ? 'a shipped rule brings its own; remove it, or remove use' : undefined
  const shape = check(usedRuleSchema, raw, { prefix, hintForUnknownKey })
  if (!shape.ok) return { findings: shape.findings }
  const { use, name = use, with: given } = shape.value
  const { parameters, make } = SHIPPED_RULES[use]!
  const checked = check(parameters, given ?? {}, { prefix: [...prefix, 'with'] })
  if (!checked.ok) return { findings: checked.findings }
  return compileRule(name, make(checked.value as never), prefix)
}

function compileRule(name: string, text: RuleText, prefix: readonly PropertyKey[]): Made {
  const { effect, forMs } = text
  const when = compileField(text.when, 'bool', [...prefix, 'when'])
  const since = text.since === undefined ? undefined : compileField(text.since, 'timestamp', [...prefix, 'since'])
  const findings = [...when.findings, ...(since?.findings ?? []), ...sinceFindings(since?.expression, prefix)]
  if (findings.length > 0) return { findings }
  if (when.expression === undefined || (since !== undefined && since.expression === undefined)) return { findings }
  return { rule: ruleOf(name, effect, when.expression, since?.expression, forMs), findings }
}

/** A `since` that moves with the clock would never come to an end. */
function sinceFindings(since: Expression | undefined, prefix: readonly PropertyKey[]): Finding[] {
  if (since === undefined || !since.reads.has('clock')) return []
  return [
    {
      path: [...prefix, 'since'],
      at: 'value',
      message: 'reads the clock, so that the endpoint would be kept for ever',
      hint: 'write an instant that stays, such as condition(pod, "Ready").lastTransitionTime',
    },
  ]
}

function ruleOf(
  name: string,
  effect: Rule['effect'],
  when: Expression,
  since: Expression | undefined,
  forMs: number | undefined,
): Rule {
  const keepsUntil =
    since === undefined || forMs === undefined
      ? {}
      : {
          keeps: (facts: Facts): ReturnType<NonNullable<Rule['keeps']>> => {
            const sinceAt = (since.evaluate(facts) as Date).getTime()
            const startsAt = sinceAt - LIMITS.skewMs
            if (startsAt <= facts.nowAt) return { sinceAt, until: sinceAt + forMs }
            const { turnsAt = startsAt } = facts.meter
            facts.meter.turnsAt = Math.min(turnsAt, startsAt)
            return undefined
          },
        }
  return {
    name,
    effect,
    applies: (facts) => when.evaluate(facts) === true,
    ...keepsUntil,
    reads: new Set([...when.reads, ...(since?.reads ?? []), ...(since === undefined ? [] : ['clock' as const])]),
    when: when.text,
    parts: [...when.parts, ...(since?.parts ?? [])],
  }
}

function compileField(text: string, wanted: Wanted, path: PropertyKey[]): { expression?: Expression; findings: Finding[] } {
  const compiled = compileExpression(text, wanted)
  if (compiled.ok) return { expression: compiled.expression, findings: [] }
  return { findings: [{ path, at: 'value', ...compiled.problem }] }
}

function repeatedNames(names: readonly (string | undefined)[]): Finding[] {
  return names.flatMap((name, index) => {
    if (name === undefined || names.indexOf(name) === index) return []
    const message = `"${name}" is the name of an earlier rule too`
    return [{ path: ['rules', index, 'name'], at: 'value', message, hint: 'give each rule a name of its own' }]
  })
}

function issuesOf(findings: readonly Finding[], document: ConfigDocument): RulesIssue[] {
  return findings.map(({ path, at, message, hint }) => ({
    path: formatPath(path),
    message,
    ...(hint === undefined ? {} : { hint }),
    ...(at === 'key' ? document.keyPosition(path) : document.valuePosition(path)),
  }))
}
