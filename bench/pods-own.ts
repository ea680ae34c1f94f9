import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, fetch } from 'undici'
import type { Cluster } from '../test/cluster/cluster.ts'
import { askHaproxy } from '../test/cluster/haproxy-socket.ts'
import type { Haproxy } from '../test/cluster/haproxy.ts'
import type { KubeObject } from '../test/cluster/kube-api.ts'
import { isReady } from '../test/cluster/workloads.ts'

/** The interval between two reads of HAProxy's requests in flight. */
const LOOK_MS = 10

/** The time that the pods need under any upgrade, in milliseconds. */
export interface PodsOwn {
  /** From the drain of each pod until HAProxy had no request of it in flight. */
  inFlightMs: number
  /** From the stored image patch of each pod until it was Ready on its new container. */
  restartMs: number
}

interface Seen {
  image: string
  container: string
  patchedAt?: number
  readyAt?: number
}

/** Watches an upgrade from outside, by a watch of its own and by the counters of HAProxy. */
export async function observePods(cluster: Cluster, namespace: string, haproxy: Haproxy): Promise<{ stop(): Promise<PodsOwn> }> {
  const pods = new Map<string, Seen>()
  const inFlight = new Map<string, number>()
  const ending = new AbortController()
  const agent = new Agent({ connect: { ca: readFileSync(join(cluster.info.dir, 'certs', 'ca.crt'), 'utf8') }, bodyTimeout: 0 })
  const token = cluster.info.identities.find(({ user }) => user === 'admin')?.token ?? ''
  const effectsBefore = haproxy.recorder.effects().length

  const answer = await fetch(`https://127.0.0.1:${cluster.info.apiPort}/api/v1/namespaces/${namespace}/pods?watch=1`, {
    dispatcher: agent,
    headers: { authorization: `Bearer ${token}` },
    signal: ending.signal,
  })
  const watching = (async () => {
    for await (const line of createInterface({ input: Readable.fromWeb(answer.body as never) })) {
      see((JSON.parse(line) as { object: KubeObject }).object)
    }
  })().catch(() => {}) // it ends by the abort

  function see(pod: KubeObject): void {
    const at = Date.now()
    const { image } = pod.spec.containers[0]
    const container = pod.status.containerStatuses?.[0]?.containerID ?? ''
    const seen: Seen = pods.get(pod.metadata.name) ?? { image, container }
    pods.set(pod.metadata.name, seen)
    if (seen.patchedAt === undefined && image !== seen.image) seen.patchedAt = at
    if (seen.patchedAt === undefined) seen.container = container
    else if (seen.readyAt === undefined && container !== seen.container && isReady(pod)) seen.readyAt = at
  }

  const counting = (async () => {
    while (!ending.signal.aborted) {
      const effects = haproxy.recorder.effects().slice(effectsBefore)
      const drained = effects.filter(({ kind, effective, server }) => kind === 'drain' && effective && !inFlight.has(server))
      if (drained.length > 0) {
        const busy = await sessions(haproxy)
        for (const { server, at } of drained) if (busy.get(server) === 0) inFlight.set(server, Date.now() - at)
      }
      await sleep(LOOK_MS)
    }
  })()

  return {
    async stop() {
      ending.abort()
      await Promise.all([watching, counting])
      await agent.destroy()
      const restarts = [...pods.values()].map(({ patchedAt, readyAt }) => (readyAt ?? NaN) - (patchedAt ?? NaN))
      return { inFlightMs: sum([...inFlight.values()]), restartMs: sum(restarts) }
    },
  }
}

/** Returns the number of requests under way and queued, by server. */
async function sessions({ adminSocket }: Haproxy): Promise<Map<string, number>> {
  const [heading = '', ...rows] = (await askHaproxy(adminSocket, 'show stat -1 4 -1')).replace(/^# /, '').trim().split('\n')
  const columns = heading.split(',')
  const [name, queued, current] = ['svname', 'qcur', 'scur'].map((column) => columns.indexOf(column)) as [number, number, number]
  return new Map(rows.map((row) => row.split(',')).map((cells) => [cells[name]!, Number(cells[queued]) + Number(cells[current])]))
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
