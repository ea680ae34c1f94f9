import { backlog } from './backlog.ts'
import { flap } from './flap.ts'
import { heartbeat } from './heartbeat.ts'
import type { Incident, IncidentName } from './incident.ts'
import { selector } from './selector.ts'
import { sync } from './sync.ts'

export const INCIDENTS: Readonly<Record<IncidentName, Incident>> = { flap, heartbeat, backlog, selector, sync }
