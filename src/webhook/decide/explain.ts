import type { RuleProblemCode } from '../rules/rules-error.ts'
import { RuleError } from '../rules/rules-error.ts'
import type { Effect, Facts, Rule } from '../rules/rule-set.ts'
import { plainOf } from '../rules/plain-value.ts'
import { decide } from './decide.ts'
import type { Decision, EndpointDecision } from './decision.ts'
import { parseEndpointsObject } from './endpoints-object.ts'
import { entriesOf } from './entries.ts'
import type { Question, RuleSaid } from './question.ts'

/** A decision with what each rule says about each endpoint. */
export interface ExplainedObject extends Omit<Decision, 'endpoints'> {
  readonly endpoints: readonly ExplainedEndpoint[]
}

export interface ExplainedEndpoint extends Omit<EndpointDecision, 'failed'> {
  /** This process has not seen the pod of the endpoint. */
  readonly podUnseen?: true
  /** Every rule, in the order of the document. */
  readonly rules: readonly ExplainedRule[]
}

export interface ExplainedRule {
  readonly rule: string
  readonly effect: Effect
  readonly says: RuleSaid['says']
  readonly code?: RuleProblemCode
  readonly problem?: string
  /** The parts of its expressions that read something, with their values as JSON. */
  readonly read: readonly { readonly part: string; readonly value?: unknown; readonly problem?: string }[]
}

/** @throws ObjectError where the object is none of its kind */
export function explainDecision(question: Omit<Question, 'trace'>): ExplainedObject {
  const entries = entriesOf(parseEndpointsObject(question.kind, question.object))
  const said = entries.map((): ExplainedRule[] => [])
  const results: (EndpointDecision | undefined)[] = []
  const { decision } = decide({
    ...question,
    trace: ({ entry, rule, facts, says, failure }) => {
      const told = failure === undefined ? {} : { code: failure.code, problem: failure.message }
      said[entry]!.push({ rule: rule.name, effect: rule.effect, says, ...told, read: readBy(rule, facts) })
    },
    onEndpoint: (entry, result) => {
      results[entry] = result
    },
  })
  const endpoints = entries.map(({ pod }, index): ExplainedEndpoint => {
    const { failed: _, ...result } = results[index]!
    const isUnseen = pod !== undefined && question.cluster.pod(pod.uid) === undefined
    return { ...result, ...(isUnseen ? { podUnseen: true } : {}), rules: said[index]! }
  })
  return { ...decision, endpoints }
}

function readBy({ parts }: Rule, facts: Facts): ExplainedRule['read'] {
  return parts.map(({ text: part, evaluate }) => {
    try {
      return { part, value: plainOf(evaluate({ ...facts, meter: { left: Infinity, turnsAt: undefined } })) }
    } catch (error) {
      if (!(error instanceof RuleError)) throw error
      return { part, problem: error.message }
    }
  })
}
