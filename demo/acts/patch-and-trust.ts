import { setTimeout as sleep } from 'node:timers/promises'
import type { Act } from './act.ts'

const POLL_MS = 50

/** Works as `kubectl set image` and `kubectl wait --for condition=Ready` do, pod by pod. No load balancer is told. */
export const patchAndTrust: Act = {
  name: 'patch, trust Ready',
  about: 'Patch a pod, wait until it is Ready, go on with the next. The load balancer is told nothing.',
  hasLateHeartbeat: false,
  showsItself: false,
  async upgrade({ cluster: { api, pods } }, image) {
    for (const pod of pods) {
      await api.patchImage(pod, image)
      // Right after the patch, Ready still belongs to the old container.
      while (!(await api.read(pod)).isReady) await sleep(POLL_MS)
    }
    return undefined
  },
}
