import type { ASTNode } from '@marcbachmann/cel-js'

/** What the library keeps beside a node, and does not declare: the node or the macro that is evaluated in its place. */
export interface Meta {
  readonly alternate?: Node
  readonly macro?: Macro
  readonly evaluate: Evaluate
}

export interface Macro {
  readonly evaluate: (evaluator: Evaluator, macro: Macro, context: unknown) => unknown
  typeCheck: (checker: Checker, macro: Macro, context: unknown) => CheckedType
  readonly args?: readonly Node[]
  readonly receiver?: Node | null
  readonly arg?: Node
}

export interface Evaluator {
  run(node: Node, context: unknown): unknown
}

export interface Checker {
  check(node: Node, context: unknown): CheckedType
}

export interface CheckedType {
  readonly name: string
  readonly kind: string
}

export type Evaluate = (evaluator: Evaluator, node: Node, context: unknown) => unknown

/** A node of a checked expression. */
export interface Node {
  readonly op: string
  readonly args: unknown
  readonly start: number
  readonly end: number
  readonly meta: Meta
  readonly checkedType?: CheckedType
  readonly handle?: (left: unknown, right: unknown, node: Node, evaluator: Evaluator) => unknown
  evaluate: Evaluate
}

interface Comprehension {
  readonly iterable: Node
  readonly init: Node
  readonly step: Node
}

export function nodeOf(ast: ASTNode): Node {
  return ast as unknown as Node
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'op' in value && 'meta' in value
}

/** The nodes that are evaluated in the course of a node. */
export function childrenOf({ op, args, meta }: Node): Node[] {
  if (meta.alternate !== undefined) return [meta.alternate]
  if (meta.macro !== undefined) {
    const { args: own = [], receiver, arg } = meta.macro
    return [...own, receiver, arg].filter(isNode)
  }
  if (op === 'comprehension') {
    const { iterable, init, step } = args as Comprehension
    return [iterable, init, step]
  }
  return [args].flat(3).filter(isNode)
}

/** The name of a function or a method, and its arguments, the receiver first. */
export function callOf({ op, args }: Node): { readonly name: string; readonly of: readonly Node[] } | undefined {
  if (op === 'call') {
    const [name, of] = args as [string, Node[]]
    return { name, of }
  }
  if (op !== 'rcall') return undefined
  const [name, receiver, of] = args as [string, Node, Node[]]
  return { name, of: [receiver, ...of] }
}

export function visit(node: Node, see: (node: Node) => void, seen = new Set<Node>()): void {
  if (seen.has(node)) return
  seen.add(node)
  see(node)
  for (const child of childrenOf(node)) visit(child, see, seen)
}
