import { upgradeByAggregation } from '../acts/aggregation.ts'
import { CONTAINER, imageOf, WORKLOAD } from '../cluster/manifests.ts'
import type { Incident } from './incident.ts'

/** The values of the incident in production are 7 s and 2 s. */
const SCALED = { guessedDrainMs: 2_000, everyMs: 250 }

export const flap: Incident = {
  name: 'flap',
  symptom: 'At each release some requests fail, and the load balancer shows pods that come and go.',
  cure: 'sluice upgrades the pods: it waits for the proof of the new container, and alone changes the load balancer.',
  expected: ['observe entry-flaps'],
  // The pod stays Ready while it stops, for long enough that the job which reads Ready sees it.
  stage: { pods: 2, stopSeconds: 1 },
  async happen(scene, isCured) {
    const observing = await scene.observe([])
    await scene.underTraffic(async () => {
      if (isCured) await scene.upgrade([`statefulset/${WORKLOAD}`, `${CONTAINER}=${imageOf(3)}`])
      else {
        scene.say('A batch job drains a pod, waits 2 s, patches its image. Another one looks at Ready, and admits or drains.')
        await upgradeByAggregation(scene.stage, imageOf(2), SCALED)
      }
    })
    await observing.end()
  },
}
