import { afterEach, expect, it } from 'vitest'
import { readGolden } from '../fidelity/golden.ts'
import { playUntilKnown } from '../fidelity/play-until-known.ts'
import { playReal } from '../fidelity/real-bed.ts'
import { scenarios } from '../fidelity/scenarios.ts'
import { describeOnCluster } from './shared-cluster.ts'

describeOnCluster('what the embedded cluster goes by, with the kubelet stopped', (cluster) => {
  afterEach(() => cluster().kubelet.resume())

  it.each(scenarios.filter(({ alone }) => alone))('$name', async (scenario) => {
    const play = (attempt: number) => playReal(cluster(), scenario, `fidelity-${scenario.name}-${attempt}`)
    expect(await playUntilKnown(scenario.name, readGolden(scenario.name, cluster().info.kubernetes)!, play)).toEqual({})
  })
})
