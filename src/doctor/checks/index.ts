import type { Check } from '../check.ts'
import { apiServer } from './api-server.ts'
import { clock } from './clock.ts'
import { controllerManager } from './controller-manager.ts'
import { disruptionBudgets } from './disruption-budgets.ts'
import { endpointController } from './endpoint-controller.ts'
import { endpointsLabels } from './endpoints-labels.ts'
import { foreignEndpoints } from './foreign-endpoints.ts'
import { health } from './health.ts'
import { heartbeats } from './heartbeats.ts'
import { loadBalancersAnswer } from './load-balancers-answer.ts'
import { openRecords } from './open-records.ts'
import { readinessProbes } from './readiness-probes.ts'
import { rights } from './rights.ts'
import { scheduler } from './scheduler.ts'
import { selectorlessServices } from './selectorless-services.ts'
import { servers } from './servers.ts'
import { unneededRecords } from './unneeded-records.ts'
import { updateStrategies } from './update-strategies.ts'
import { versions } from './versions.ts'
import { webhooks } from './webhooks.ts'

/** The checks, in the order of the report. */
export const CHECKS: readonly Check[] = [
  apiServer,
  rights,
  clock,
  versions,
  webhooks,
  heartbeats,
  scheduler,
  controllerManager,
  endpointController,
  foreignEndpoints,
  selectorlessServices,
  endpointsLabels,
  loadBalancersAnswer,
  servers,
  health,
  readinessProbes,
  updateStrategies,
  disruptionBudgets,
  openRecords,
  unneededRecords,
]
