import type { Cluster } from '../cluster.ts'
import type { SluiceExit, UpgradeBed } from '../upgrade-bed.ts'
import type { Random } from './random.ts'
import { storyOf } from './story.ts'

export interface ScenarioRun {
  /** What was done, for a person who reads the list. */
  note: string
  /** Empty where all is as promised. */
  problems: string[]
}

/** Something bad that is done to an upgrade, many times over on one bed, and what must hold all the same. */
export interface Scenario {
  name: string
  /** Runs of `npm run chaos`. */
  runs: number
  /** Runs that one bed serves; a fresh one is made for the next. */
  runsPerBed: number
  open(cluster: Cluster, namespace: string): Promise<UpgradeBed>
  run(bed: UpgradeBed, random: Random, index: number): Promise<ScenarioRun>
}

export function exitProblems({ code, signal, stderr, events }: SluiceExit, wanted: number): string[] {
  if (code === wanted) return []
  return [`sluice ended with ${code ?? signal}, not ${wanted}:\n${storyOf(events)}\n${stderr.trimEnd()}`]
}
