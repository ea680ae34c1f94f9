import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type KubernetesVersion, usualVersion } from '../cluster/kubernetes-versions.ts'
import { versionFacts } from '../cluster/version-facts.ts'
import type { Trace } from './trace.ts'

/**
 * What real clusters have shown of one scenario, in so many runs: of each object its states and the steps between them.
 *
 * No two runs are the same: whether a probe falls between the end of the old container and the kubelet's next look, or
 * whether the kubelet skips a status because a newer one is there, is chance each time. So it is steps that are kept and
 * not whole sequences, which are as many as those chances multiplied. A run is as a real one where it begins and ends as
 * one and takes only steps that were seen. A state names generations, containers and readiness, so nothing can be taken
 * out of its order.
 */
export interface Golden {
  kubernetes: string
  runs: number
  objects: Record<string, Steps>
}

export interface Steps {
  states: string[]
  /** Places in `states`. */
  begins: number[]
  ends: number[]
  /** From and to, such as `0>1`. */
  steps: string[]
  /** In some runs it was not there at all. */
  optional?: true
}

const FOLDER = fileURLToPath(new URL('../golden/kubelet/', import.meta.url))

/** A version whose kubelet does as another version's has no file of its own. */
function goldenFile(scenario: string, version: KubernetesVersion): string {
  return join(FOLDER, version === usualVersion ? '' : version, `${scenario}.json`)
}

/** What was recorded of just this version. */
export function readRecorded(scenario: string, version: KubernetesVersion): Golden | undefined {
  const file = goldenFile(scenario, version)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Golden) : undefined
}

/** What a cluster of this version is measured by: its own recordings, and those of versions whose kubelets do as its own. */
export function readGolden(scenario: string, version: KubernetesVersion = usualVersion): Golden | undefined {
  const own = readRecorded(scenario, version)
  const { recordings } = versionFacts(version)
  const alike = recordings === version ? undefined : readGolden(scenario, recordings)
  return own !== undefined && alike !== undefined ? inBoth(own, alike) : (own ?? alike)
}

/** The states and steps of both; an object that is not in both is optional. */
function inBoth(one: Golden, other: Golden): Golden {
  const objects: Record<string, Steps> = { ...one.objects }
  for (const [key, more] of Object.entries(other.objects)) {
    const known = objects[key]
    objects[key] = known === undefined ? { ...more, optional: true } : stepsInBoth(known, more)
  }
  for (const key of Object.keys(one.objects)) {
    if (other.objects[key] === undefined) objects[key] = { ...objects[key]!, optional: true }
  }
  return { ...one, runs: one.runs + other.runs, objects }
}

function stepsInBoth(one: Steps, other: Steps): Steps {
  const states = [...new Set([...one.states, ...other.states])]
  const placed = (place: number): number => states.indexOf(other.states[place]!)
  const steps = other.steps.map((step) =>
    step
      .split('>')
      .map((place) => placed(Number(place)))
      .join('>'),
  )
  return {
    states,
    begins: [...new Set([...one.begins, ...other.begins.map(placed)])],
    ends: [...new Set([...one.ends, ...other.ends.map(placed)])],
    steps: [...new Set([...one.steps, ...steps])],
    ...(one.optional || other.optional ? { optional: true as const } : {}),
  }
}

export function writeGolden(scenario: string, version: KubernetesVersion, golden: Golden): void {
  const file = goldenFile(scenario, version)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${JSON.stringify(golden, undefined, 2)}\n`)
}

/** What of a trace no real run has shown, by object; empty where it is as a real one. */
export function strangers(golden: Golden, trace: Trace): Record<string, string[]> {
  const strange: Record<string, string[]> = {}
  for (const key of new Set([...Object.keys(golden.objects), ...Object.keys(trace)])) {
    const found = strangeSteps(golden.objects[key], trace[key])
    if (found.length > 0) strange[key] = found
  }
  return strange
}

function strangeSteps(known: Steps | undefined, lines: readonly string[] | undefined): string[] {
  if (known === undefined) return ['was never seen', ...(lines ?? [])]
  if (lines === undefined || lines.length === 0) return known.optional ? [] : ['was always seen']
  const places = lines.map((line) => known.states.indexOf(line))
  const strange: string[] = []
  if (!known.begins.includes(places[0]!)) strange.push(`begins with: ${lines[0]}`)
  for (let index = 1; index < lines.length; index++) {
    if (known.steps.includes(`${places[index - 1]}>${places[index]}`)) continue
    strange.push(`${lines[index - 1]}\n  then: ${lines[index]}`)
  }
  if (!known.ends.includes(places.at(-1)!)) strange.push(`ends with: ${lines.at(-1)}`)
  return strange
}

/** The golden file with one more run in it. */
export function withRun(golden: Golden, trace: Trace): Golden {
  const objects: Record<string, Steps> = {}
  const keys = new Set([...Object.keys(golden.objects), ...Object.keys(trace)])
  for (const key of [...keys].sort()) {
    const known = golden.objects[key]
    const lines = trace[key]
    if (lines === undefined) objects[key] = { ...known!, optional: true }
    else if (known === undefined) {
      const first = withLines({ states: [], begins: [], ends: [], steps: [] }, lines)
      objects[key] = golden.runs === 0 ? first : { ...first, optional: true }
    } else objects[key] = withLines(known, lines)
  }
  return { ...golden, runs: golden.runs + 1, objects }
}

function withLines(known: Steps, lines: readonly string[]): Steps {
  const states = [...known.states]
  const places = lines.map((line) => {
    if (!states.includes(line)) states.push(line)
    return states.indexOf(line)
  })
  const taken = places.slice(1).map((place, index) => `${places[index]}>${place}`)
  const union = <One>(a: readonly One[], b: readonly One[]): One[] => [...new Set([...a, ...b])]
  return {
    ...known,
    states,
    begins: union(known.begins, [places[0]!]),
    ends: union(known.ends, [places.at(-1)!]),
    steps: union(known.steps, taken),
  }
}
