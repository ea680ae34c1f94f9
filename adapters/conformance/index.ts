/**
 * `sluice/testing`: the conformance kit, and what beds are made of. It runs under vitest, under node:test, and without a test
 * framework (`runCase`).
 */
export type * from './bed.ts'
export { createTraffic, type FrontAddress, type Pods, startPods } from './beds/pods.ts'
export { makeRestBed, type RestBedOptions } from './beds/rest.ts'
export { type RestProxy, startRestProxy } from './beds/rest-proxy.ts'
export { type CaseName, conformanceCases } from './cases/index.ts'
export { type CaseOutcome, describeAdapter, runCase, type TestFramework } from './conformance.ts'
export { type WrongAdapter, wrongAdapters } from './wrong-adapters.ts'
