import { once } from 'node:events'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { Cluster } from './cluster.ts'
import { appPort } from './manifests.ts'
import type { UpgradeBed } from './upgrade-bed.ts'

/** A request that a pod handles until the test ends it, regardless of the speed of the machine. */
export interface HeldRequest {
  /** Ends the request. Resolves with the status of the answer. */
  end(): Promise<number>
}

/** Holds a request through HAProxy: a drained pod has it in flight. */
export function holdBehindHaproxy({ cluster, haproxy }: UpgradeBed, server: string): Promise<HeldRequest> {
  return holdRequest(cluster, `127.0.0.1:${haproxy.port}`, { 'x-server': server })
}

/** Holds a request past HAProxy, which does not know about it. A container with GRACEFUL does not stop before it is answered. */
export async function holdDirectly({ cluster, namespace }: UpgradeBed, pod: string): Promise<HeldRequest> {
  const { status } = await cluster.api.get('Pod', pod, namespace)
  return holdRequest(cluster, `${status.podIP}:${appPort}`)
}

/** Holds a request by its body: the application reads the whole body before it answers, and says when it begins by "100 Continue". */
async function holdRequest(cluster: Cluster, address: string, headers: Record<string, string> = {}): Promise<HeldRequest> {
  const forward = await cluster.forward(address)
  const held = request({ port: forward.port, method: 'POST', agent: false, headers: { ...headers, expect: '100-continue' } })
  const answered = once(held, 'response') as Promise<[IncomingMessage]>
  answered.catch(() => {}) // end() tells
  const refused = answered.then(([{ statusCode }]) => {
    throw new Error(`the request was answered with ${statusCode} before its body had ended`)
  })
  refused.catch(() => {})
  await Promise.race([once(held, 'continue'), refused])
  return {
    async end() {
      held.end()
      const [response] = await answered
      await once(response.resume(), 'end')
      await forward.close()
      return response.statusCode!
    },
  }
}
