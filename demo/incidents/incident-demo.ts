import { rmSync } from 'node:fs'
import type { Demo } from '../demo.ts'
import { createChildren } from '../processes/children.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import type { IncidentSummary } from '../view/incident-show.ts'
import type { IncidentName } from './incident.ts'
import { INCIDENTS } from './incidents.ts'
import { type IncidentShow, playIncident } from './play.ts'
import { incidentFaults } from './verdict.ts'

export interface IncidentDemoOptions {
  name: IncidentName
  /** The path of the script of sluice's command line. */
  program: string
  show: IncidentShow & IncidentSummary
}

/** Plays one incident from production. `play` resolves to false where sluice did not find it, or found something after the cure. */
export function createIncidentDemo({ name, program, show }: IncidentDemoOptions): Demo {
  const children = createChildren()
  const folder = temporaryFolder('sluice-demo-')
  const removeFiles = (): void => rmSync(folder, { recursive: true, force: true })
  return {
    async play() {
      const incident = INCIDENTS[name]
      show.begin(incident)
      const result = await playIncident(incident, { children, folder, program, show })
      const faults = incidentFaults(incident, result)
      show.conclude(incident, result, faults)
      return faults.length === 0
    },
    async end() {
      await children.end()
      removeFiles()
    },
    kill() {
      children.kill()
      removeFiles()
    },
  }
}
