import { PROMISE, describeScenario } from './scenarios/describe-scenario.ts'
import { takeover } from './scenarios/takeover.ts'

describeScenario(`SIGSTOP until another has taken over: ${PROMISE}`, takeover, [
  ['woken when the other is done', 0],
  ['woken while the other works', 1],
])
