import type { Cluster } from '../cluster.ts'
import type { SluiceExit, UpgradeBed } from '../upgrade-bed.ts'
import type { Random } from './random.ts'
import { storyOf } from './story.ts'

export interface ScenarioRun {
  /** A description of the run, for a reader of the list. */
  note: string
  /** The broken guarantees. Empty where all were kept. */
  problems: string[]
}

/** A disturbance of an upgrade, repeated on one bed, and the guarantees that must hold all the same. */
export interface Scenario {
  name: string
  /** The number of runs in `npm run chaos`. */
  runs: number
  /** The number of runs on one bed. The next run gets a fresh bed. */
  runsPerBed: number
  open(cluster: Cluster, namespace: string): Promise<UpgradeBed>
  run(bed: UpgradeBed, random: Random, index: number): Promise<ScenarioRun>
}

export function exitProblems({ code, signal, stderr, events }: SluiceExit, wanted: number): string[] {
  if (code === wanted) return []
  return [`sluice ended with ${code ?? signal}, not ${wanted}:\n${storyOf(events)}\n${stderr.trimEnd()}`]
}
