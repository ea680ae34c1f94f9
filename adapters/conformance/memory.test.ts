import { describe, test } from 'vitest'
import { makeMemoryBed } from './beds/memory.ts'
import { describeAdapter } from './conformance.ts'

describeAdapter({ describe, test }, 'the in-memory load balancer', makeMemoryBed)
