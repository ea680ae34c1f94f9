import { PROMISE, describeScenario } from './scenarios/describe-scenario.ts'
import { killSluice } from './scenarios/kill-sluice.ts'

describeScenario(`kill -9, then the same command: ${PROMISE}`, killSluice, [
  ['killed while it drains', 1],
  ['killed while it patches', 3],
  ['killed at some moment', 4],
])

describeScenario(`kill -9, then the same command, once more: ${PROMISE}`, killSluice, [
  ['killed while it restores', 6],
  ['killed before the first pod', 9],
])
