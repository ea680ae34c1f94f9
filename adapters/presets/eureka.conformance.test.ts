import { afterAll, beforeAll, describe, test } from 'vitest'
import { findEureka } from '../../test/products/eureka.ts'
import { describeOn } from '../../test/products/program.ts'
import { makeEurekaBed } from '../conformance/beds/eureka.ts'
import { type EurekaProcess, startEureka } from '../conformance/beds/eureka-process.ts'
import { describeAdapter } from '../conformance/conformance.ts'

describeOn(await findEureka(), (jar) => {
  let eureka: EurekaProcess
  beforeAll(async () => {
    eureka = await startEureka(jar)
  }, 60_000)
  afterAll(() => eureka?.stop())

  describeAdapter({ describe, test }, 'eureka', ({ servers }) => makeEurekaBed({ servers, eureka }))
})
