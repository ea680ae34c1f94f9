// Draws the state machine of a pod upgrade into docs/states.md, from the machine itself.
//   node scripts/draw-machine.ts
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { podUpgradeMachine } from '../machines/pod-upgrade/index.ts'

const PAGE = resolve(import.meta.dirname, '..', 'docs/states.md')
const BEGIN = '<!-- drawn by scripts/draw-machine.ts -->'
const END = '<!-- end of the drawing -->'

/** The parts of an xstate node that the drawing needs. */
interface Node {
  id: string
  transitions: Map<string, { eventType: string; target?: readonly { id: string }[] | undefined }[]>
  always?: { eventType: string; target?: readonly { id: string }[] | undefined }[] | undefined
  states: Record<string, Node>
}

/** Returns the states of a pod with their successors. A bug of sluice itself, which leads to needsOperator, is left out. */
export function podStates(): Map<string, Set<string>> {
  const root = podUpgradeMachine.root as unknown as Node
  return new Map(Object.entries(root.states).map(([name, node]) => [name, successors(name, node)]))
}

function successors(name: string, node: Node): Set<string> {
  const found = new Set<string>()
  const walk = (one: Node): void => {
    for (const { eventType, target } of [...[...one.transitions.values()].flat(), ...(one.always ?? [])]) {
      if (eventType.startsWith('xstate.error')) continue
      for (const { id } of target ?? []) found.add(id.split('.')[1]!)
    }
    for (const child of Object.values(one.states)) walk(child)
  }
  walk(node)
  found.delete(name)
  return found
}

/** Returns the drawing, as mermaid. */
export function drawing(): string {
  const states = [...podStates()]
  const edges = states.flatMap(([from, to]) => [...to].map((one) => `  ${from} --> ${one}`))
  const ends = states.flatMap(([name, to]) => (to.size === 0 ? [`  ${name} --> [*]`] : []))
  return ['```mermaid', 'stateDiagram-v2', '  direction TB', '  [*] --> deriving', ...edges, ...ends, '```'].join('\n')
}

/** Returns the page with the present drawing. */
export function withDrawing(page: string): string {
  const begin = page.indexOf(BEGIN)
  const end = page.indexOf(END)
  if (begin < 0 || end < begin) throw new Error(`docs/states.md lacks the lines "${BEGIN}" and "${END}"`)
  return `${page.slice(0, begin + BEGIN.length)}\n${drawing()}\n${page.slice(end)}`
}

if (process.argv[1] === join(import.meta.dirname, 'draw-machine.ts')) {
  writeFileSync(PAGE, withDrawing(readFileSync(PAGE, 'utf8')))
  console.log('docs/states.md is drawn')
}
