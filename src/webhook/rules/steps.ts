import { running } from './evaluation.ts'
import { RuleError } from './rules-error.ts'
import { callOf, childrenOf, type Evaluate, type Node, visit } from './syntax.ts'

/** Characters of a text that cost one step. */
const CHARACTERS_A_STEP = 16

/** The cost of a call that asks for the time in a zone. */
const ZONE_STEPS = 500

/** The longest text that `duration` reads. Its parser is slow on long texts. */
const LONGEST_DURATION = 64

const TOO_COSTLY = new RuleError('too-costly', 'the expression takes more steps than it may')
const DECISION_TOO_COSTLY = new RuleError('decision-too-costly', 'the rules take more steps for one object than they may')

/**
 * Counts the steps of a checked expression: one for each evaluation of a node, and more by the size of what it gives, since a list may
 * double at each step. Nested comprehensions are counted by their rounds. `||`, `&&`, `all` and `exists` pass over errors, so that the
 * caller has to look whether steps are left.
 */
export function countSteps(root: Node): void {
  const compared = new Set<Node>()
  const durations = new Set<Node>()
  visit(root, (node) => {
    if (node.op === '==' || node.op === '!=' || node.op === 'in') for (const child of childrenOf(node)) compared.add(child)
    const call = callOf(node)
    if (call?.name === 'duration') durations.add(call.of[0]!)
  })
  visit(root, (node) => {
    const evaluate = ownEvaluate(node)
    const isCompared = compared.has(node)
    const isShort = durations.has(node)
    const base = isInZone(node) ? ZONE_STEPS : 1
    node.evaluate = (evaluator, same, context) => {
      spend(base)
      const value = evaluate(evaluator, same, context)
      const size = sizeOf(value, isCompared)
      if (size > 0) spend(size)
      if (isShort && typeof value === 'string' && value.length > LONGEST_DURATION)
        throw new RuleError('failed', `a text of ${value.length} characters is no duration`)
      return value
    }
  })
}

/** Throws where no step is left. */
export function spend(steps: number): void {
  const evaluation = running()
  const { meter } = evaluation.facts
  evaluation.stepsLeft -= steps
  meter.left -= steps
  if (evaluation.stepsLeft < 0) throw TOO_COSTLY
  if (meter.left < 0) throw DECISION_TOO_COSTLY
}

/** The evaluation of a node. The library's own method sets it at the first call, and would replace the counted one. */
export function ownEvaluate(node: Node): Evaluate {
  if (Object.hasOwn(node, 'evaluate')) return node.evaluate
  const { alternate, macro, evaluate } = node.meta
  if (alternate !== undefined) return (evaluator, _node, context) => alternate.evaluate(evaluator, alternate, context)
  if (macro !== undefined) return (evaluator, _node, context) => macro.evaluate(evaluator, macro, context)
  return evaluate
}

function isInZone(node: Node): boolean {
  const call = callOf(node)
  return call !== undefined && node.op === 'rcall' && call.name.startsWith('get') && call.of.length === 2
}

/** The steps for the size of a value. A comparison reads lists within lists, so that their sizes count too. */
function sizeOf(value: unknown, isDeep: boolean): number {
  if (typeof value === 'string') return Math.floor(value.length / CHARACTERS_A_STEP)
  if (Array.isArray(value)) return isDeep ? deepSize(value) : value.length
  return isDeep && typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
    ? deepSize(Object.values(value))
    : 0
}

/** Ends with the steps that are left, since a list may hold another one many times. */
function deepSize(values: readonly unknown[]): number {
  const { stepsLeft } = running()
  let size = 0
  const add = (all: readonly unknown[]): void => {
    for (const value of all) {
      size += typeof value === 'string' ? 1 + Math.floor(value.length / CHARACTERS_A_STEP) : 1
      if (size > stepsLeft) return
      if (Array.isArray(value)) add(value)
      else if (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype)
        add(Object.values(value))
    }
  }
  add(values)
  return size
}
