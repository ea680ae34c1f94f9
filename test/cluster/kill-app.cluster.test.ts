import { describeScenario } from './scenarios/describe-scenario.ts'
import { killApp } from './scenarios/kill-app.ts'

describeScenario('the application killed around the PATCH: put back only when the new container serves', killApp, [
  ['before the PATCH', 0],
  ['after it', 1],
  ['after it, at another moment', 2],
  ['before it, at another moment', 3],
  ['after it, in a third pod', 4],
  ['after it, in a fourth pod', 5],
])
