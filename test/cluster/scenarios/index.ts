import { apiRestart } from './api-restart.ts'
import { haproxyReload } from './haproxy-reload.ts'
import { interrupt } from './interrupt.ts'
import { killApp } from './kill-app.ts'
import { killSluice } from './kill-sluice.ts'
import { lateDrain } from './late-drain.ts'
import type { Scenario } from './scenario.ts'
import { socketFaults } from './socket-faults.ts'
import { takeover } from './takeover.ts'

export const scenarios: readonly Scenario[] = [
  killSluice,
  killApp,
  interrupt,
  takeover,
  apiRestart,
  socketFaults,
  haproxyReload,
  lateDrain,
]
