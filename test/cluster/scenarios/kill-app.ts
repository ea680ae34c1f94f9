import { setTimeout as sleep } from 'node:timers/promises'
import { appPort, pod } from '../manifests.ts'
import type { UpgradeBed } from '../upgrade-bed.ts'
import { startUpgradeBed } from '../upgrade-bed.ts'
import { judge } from './judge.ts'
import { enters } from './kill-sluice.ts'
import type { Scenario } from './scenario.ts'
import { exitProblems } from './scenario.ts'
import { watchUpgrade } from './watched-upgrade.ts'

/** Each run takes a pod of its own: a container that is killed twice within ten minutes waits for ten seconds. */
const PODS_PER_BED = 8

/**
 * The application is killed around the image PATCH. The restart on the old image looks ready for a moment, and must never be taken for the
 * new container.
 */
export const killApp: Scenario = {
  name: 'kill-app',
  runs: 40,
  runsPerBed: PODS_PER_BED,
  // The pods are ready late, so that the last kill comes before the restore.
  open: (cluster, namespace) =>
    startUpgradeBed(cluster, {
      name: namespace,
      objects: Array.from({ length: PODS_PER_BED }, (_, index) =>
        pod({ name: `fleet-${index}`, namespace, readyAfter: 1.5, labels: { app: 'fleet' } }),
      ),
      app: 'fleet',
      count: PODS_PER_BED,
    }),
  async run(bed, random, index) {
    const name = `fleet-${index % PODS_PER_BED}`
    const found = (await bed.pods()).find(({ metadata }) => metadata.name === name)
    const direct = await bed.cluster.forward(`${found.status.podIP}:${appPort}`)
    const restored = askWhenRestored(bed, name, direct.address)
    // Held requests keep the pod from being empty for a while, so that the kill can come before the PATCH.
    const held = { heldShare: 0.3, holdMs: 800, expectFailures: true as const }
    const upgrade = await watchUpgrade(bed, { workload: `pod/${name}`, pods: [name], image: 'localhost/app:v2', traffic: held })
    const sluice = bed.start(upgrade.command)
    const isEarly = index % 3 === 0
    await sluice.seen(enters(name, isEarly ? 'emptying' : 'patching'))
    await sleep(isEarly ? random.between(0, 800) : random.between(0, 1_400))
    const killed = await crash(direct.address)
    const exit = await sluice.exit
    const answer = await restored()
    await direct.close()
    const { history } = await upgrade.end()
    const patchedAt = exit.events.find(enters(name, 'patching'))
    const offset = Math.round(killed.at - (patchedAt ? Date.parse(patchedAt.wallAt) : Number.NaN))
    return {
      note: `${killed.version} killed ${offset} ms after the PATCH was due`,
      problems: [
        ...exitProblems(exit, 0),
        ...(answer === 'v2' ? [] : [`put back, it answered ${answer}`]),
        // The requests in flight at the kill have failed, and sluice is not responsible.
        ...judge(history, { excused: ({ at }) => at <= killed.at }),
      ],
    }
  },
}

/** Ends the process of the application. Between two containers, it tries to end the next one for a short time. */
async function crash(address: string): Promise<{ at: number; version: string }> {
  const deadline = performance.now() + 900
  let version = 'nothing'
  while (performance.now() < deadline) {
    version = (await ask(address)).said
    if (version.startsWith('v')) {
      const at = Date.now()
      await fetch(`http://${address}/crash`).catch(() => {})
      return { at, version }
    }
    await sleep(10)
  }
  return { at: Date.now(), version: `nothing (${version})` }
}

/** Asks the pod itself when HAProxy is told to put it back. The pod must then serve the new image. */
function askWhenRestored(bed: UpgradeBed, name: string, address: string): () => Promise<string> {
  let answer: Promise<string> | undefined
  void bed.haproxy.recorder.setFaults({
    delayMs(line) {
      if (line.includes(`/${name} state ready`)) answer ??= ask(address).then(({ ok, said }) => (ok ? said : `${said}, refused`))
      return 0
    },
  })
  return async () => {
    await bed.haproxy.recorder.setFaults({})
    return answer ?? 'nothing: it was never asked'
  }
}

/** Returns the version of the application, which is in every answer, including refusals. */
async function ask(address: string): Promise<{ ok: boolean; said: string }> {
  try {
    const response = await fetch(`http://${address}/`, { method: 'POST', headers: { connection: 'close' } })
    await response.text()
    return { ok: response.ok, said: response.headers.get('x-version') ?? String(response.status) }
  } catch (error) {
    return { ok: false, said: String(error) }
  }
}
