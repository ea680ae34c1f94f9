import { running } from './evaluation.ts'
import { ownEvaluate } from './steps.ts'
import { callOf, childrenOf, type Node, visit } from './syntax.ts'

/*
 * Finds when a condition that reads the clock may come out differently. Most conditions compare a time or a duration that grows with the
 * clock, such as `ageOf(…) < duration("5m")`: the instant at which the comparison turns follows from its two sides. Any other use, such as
 * `now.getHours()`, is looked at again in the next minute.
 */

const COMPARISONS = new Set(['<', '<=', '>', '>=', '==', '!='])
const TIMES = new Set(['google.protobuf.Timestamp', 'google.protobuf.Duration'])
const MINUTE_MS = 60_000

/** By how much a value grows with each millisecond of the clock. Undefined where it follows the clock in another way. */
function slopeOf(node: Node): number | undefined {
  if (!readsClock(node)) return 0
  if (node.op === 'id') return 1
  const call = callOf(node)
  if (call !== undefined) return call.name === 'ageOf' && !readsClock(call.of[0]!) ? 1 : undefined
  if (node.op !== '+' && node.op !== '-') return undefined
  const [left, right] = childrenOf(node).map(slopeOf)
  if (left === undefined || right === undefined) return undefined
  return node.op === '+' ? left + right : left - right
}

export function readsClock(node: Node): boolean {
  let reads = false
  visit(node, (one) => {
    if ((one.op === 'id' && one.args === 'now') || callOf(one)?.name === 'ageOf') reads = true
  })
  return reads
}

/** To be called on a checked expression, before its steps are counted. */
export function noteTurns(node: Node, seen = new Set<Node>()): void {
  if (seen.has(node) || !readsClock(node)) return
  seen.add(node)
  const children = childrenOf(node)
  const [left, right] = COMPARISONS.has(node.op) ? children.map(slopeOf) : []
  if (left !== undefined && right !== undefined) {
    if (left !== right) noteComparison(node, children as [Node, Node], left - right)
    return
  }
  const times = children.filter((child) => TIMES.has(child.checkedType?.name ?? '') && readsClock(child))
  if (times.length > 0) noteEachMinute(node)
  for (const child of children) if (!times.includes(child)) noteTurns(child, seen)
}

function noteComparison(node: Node, [left, right]: [Node, Node], slope: number): void {
  node.evaluate = (evaluator, same, context) => {
    const [a, b] = [evaluator.run(left, context), evaluator.run(right, context)]
    noteTurn(-(Number(a) - Number(b)) / slope)
    return same.handle!(a, b, same, evaluator)
  }
}

function noteEachMinute(node: Node): void {
  const evaluate = ownEvaluate(node)
  node.evaluate = (evaluator, same, context) => {
    noteTurn(MINUTE_MS - (running().facts.nowAt % MINUTE_MS) - 1)
    return evaluate(evaluator, same, context)
  }
}

/** At the instant itself both sides are equal, which `<` and `<=` tell apart, so that the millisecond after it counts. */
function noteTurn(inMs: number): void {
  if (!(inMs >= 0)) return
  const { nowAt, meter } = running().facts
  const at = nowAt + Math.floor(inMs) + 1
  if (meter.turnsAt === undefined || at < meter.turnsAt) meter.turnsAt = at
}
