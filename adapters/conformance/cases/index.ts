import type { ConformanceCase } from '../conformance-case.ts'
import { effectCases } from './effects.ts'
import { faultCases } from './faults.ts'
import { operatorCases } from './operator.ts'
import { trafficCases } from './traffic.ts'

const cases = { ...effectCases, ...operatorCases, ...trafficCases, ...faultCases }

export type CaseName = keyof typeof cases

export const conformanceCases: Readonly<Record<CaseName, ConformanceCase>> = cases
