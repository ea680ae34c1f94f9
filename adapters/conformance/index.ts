/**
 * `sluice/testing`: the conformance kit, and the parts of beds. It runs under vitest, under node:test, and without a test framework
 * (`runCase`).
 */
export type * from './bed.ts'
export type { ConformanceCase } from './conformance-case.ts'
export { createTraffic, type FrontAddress, type Pods, startPods } from './beds/pods.ts'
export { makeRestBed, type RestBedOptions } from './beds/rest.ts'
export { type BedServer, makeStartedBed, type StartedBedOptions, type StartedLoadBalancer } from './beds/started.ts'
export { type RestProxy, startRestProxy } from './beds/rest-proxy.ts'
export { type CaseName, conformanceCases } from './cases/index.ts'
export { type CaseOutcome, describeAdapter, runCase, type TestFramework } from './conformance.ts'
export { type ConformancePromise, promises } from './promises.ts'
export { type Requirement, requirementWords } from './requirements.ts'
export {
  guaranteeShown,
  type TestedCase,
  type TestedGuarantee,
  type TestedPromise,
  testPromises,
  type TestRunOptions,
} from './test-run.ts'
export { type WrongAdapter, wrongAdapters } from './wrong-adapters.ts'
