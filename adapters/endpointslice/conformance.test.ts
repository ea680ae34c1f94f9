import { afterAll, beforeAll, describe, test } from 'vitest'
import { chosenVersion } from '../../test/cluster/kubernetes-versions.ts'
import { findKubernetes } from '../../test/products/kubernetes.ts'
import { describeOn } from '../../test/products/program.ts'
import { makeEndpointsliceBed } from '../conformance/beds/endpointslice.ts'
import { type KubernetesProcess, startKubernetes } from '../conformance/beds/kubernetes-process.ts'
import { describeAdapter } from '../conformance/conformance.ts'
import { readmeRules } from './testing/readme.ts'

describeOn(await findKubernetes(chosenVersion()), (programs) => {
  let kubernetes: KubernetesProcess
  beforeAll(async () => {
    kubernetes = await startKubernetes({ programs, rules: readmeRules() })
  }, 60_000)
  afterAll(() => kubernetes?.stop())

  describeAdapter({ describe, test }, 'endpointslice', ({ servers }) => makeEndpointsliceBed({ servers, kubernetes }))
})
