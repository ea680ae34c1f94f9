import { describe, test } from 'vitest'
import { describeAdapter } from '../../../adapters/conformance/conformance.ts'
import { makeSimulatedBed } from './bed.ts'

// G0 cannot be read, and the kit checks by reading back: simulated-adapter.test.ts has what it does.
for (const level of ['G1', 'G2', 'G3'] as const)
  describeAdapter({ describe, test }, `simulated ${level}`, makeSimulatedBed(level))
describeAdapter({ describe, test }, 'simulated, uncounted', makeSimulatedBed('G1', { countsRequests: false }))
