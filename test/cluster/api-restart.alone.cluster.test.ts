import { PROMISE, describeScenario } from './scenarios/describe-scenario.ts'
import { apiRestart } from './scenarios/api-restart.ts'

describeScenario(`the API server restarted: ${PROMISE}`, apiRestart, [
  ['early', 0],
  ['later', 1],
])
