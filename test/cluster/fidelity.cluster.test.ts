import { beforeAll, expect, it } from 'vitest'
import { readGolden } from '../fidelity/golden.ts'
import { playUntilKnown } from '../fidelity/play-until-known.ts'
import { playReal } from '../fidelity/real-bed.ts'
import { scenarios } from '../fidelity/scenarios.ts'
import { describeOnCluster } from './shared-cluster.ts'

/** The number of concurrent scenarios, which spend most of their time waiting. */
const AT_ONCE = 10

describeOnCluster('what the embedded cluster goes by is what the real one does', (cluster) => {
  const together = scenarios.filter(({ alone }) => !alone)
  const results = new Map<string, PromiseWithResolvers<Record<string, string[]>>>()

  beforeAll(() => {
    const waiting = [...together]
    for (const { name } of together) {
      const result = Promise.withResolvers<Record<string, string[]>>()
      result.promise.catch(() => {}) // its own test awaits it
      results.set(name, result)
    }
    const playNext = async (): Promise<void> => {
      const scenario = waiting.shift()
      if (scenario === undefined) return
      const { name } = scenario
      const played = playUntilKnown(name, readGolden(name, cluster().info.kubernetes)!, (attempt) =>
        playReal(cluster(), scenario, `fidelity-${name}-${attempt}`),
      )
      await played.then(results.get(name)!.resolve, results.get(name)!.reject)
      await playNext()
    }
    for (let player = 0; player < AT_ONCE; player++) void playNext()
  })

  it.each(together)('$name', async ({ name }) => {
    expect(await results.get(name)!.promise).toEqual({})
  })
})
