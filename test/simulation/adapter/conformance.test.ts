import { describe, test } from 'vitest'
import { describeAdapter } from '../../../adapters/conformance/conformance.ts'
import { makeSimulatedBed } from './bed.ts'

// The kit checks by reading back, which G0 does not support. simulated-adapter.test.ts tests G0.
for (const level of ['G1', 'G2', 'G3'] as const)
  describeAdapter({ describe, test }, `simulated ${level}`, makeSimulatedBed(level))
describeAdapter({ describe, test }, 'simulated, uncounted', makeSimulatedBed('G1', { countsRequests: false }))
