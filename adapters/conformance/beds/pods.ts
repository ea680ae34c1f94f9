/** Small HTTP servers as pods, and clients that send requests through the load balancer. All beds use them. */
import { Agent, createServer, get, type RequestOptions, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Endpoint } from '../../contract.ts'
import type { HeldRequest, Traffic } from '../bed.ts'

const HOLD_PATH = '/hold'

export interface Pods {
  endpoints: Endpoint[]
  /** Closes the listener, so the pod refuses new connections. */
  stop(uid: string): void
  /** Ends the held request of this pod. Resolves when the pod has one. */
  release(uid: string): Promise<void>
  close(): void
}

export async function startPods(count: number): Promise<Pods> {
  const servers = new Map<string, Server>()
  const held = new Map<string, PromiseWithResolvers<() => void>>()
  const endpoints: Endpoint[] = []
  for (let index = 0; index < count; index += 1) {
    const uid = `uid-${index}`
    held.set(uid, Promise.withResolvers())
    const server = createServer(({ url }, response) => {
      response.setHeader('x-pod', uid)
      if (url !== HOLD_PATH) return void response.end()
      // The first part of the answer tells the client at once which pod holds its request. The rest follows at the release.
      response.write('held')
      held.get(uid)!.resolve(() => response.end('released'))
    })
    server.listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    servers.set(uid, server)
    endpoints.push({ uid, pod: `web-${index}`, address: '127.0.0.1', port: (server.address() as AddressInfo).port })
  }
  function stop(uid: string): void {
    const server = servers.get(uid)!
    server.close()
    server.closeIdleConnections()
  }
  return {
    endpoints,
    stop,
    async release(uid) {
      const end = await held.get(uid)!.promise
      end()
    },
    close() {
      for (const [uid, server] of servers) {
        stop(uid)
        server.closeAllConnections()
      }
    },
  }
}

/** The address of the load balancer for clients. */
export type FrontAddress = Pick<RequestOptions, 'socketPath' | 'host' | 'port'>

function request(front: FrontAddress, agent: Agent | false, path = '/'): Promise<{ uid: string; ended: Promise<boolean> }> {
  return new Promise((resolve) => {
    const sent = get({ ...front, agent, path }, (response) => {
      const ended = new Promise<boolean>((resolveEnded) => {
        response.once('end', () => resolveEnded(true))
        response.once('error', () => resolveEnded(false))
      })
      response.resume()
      const uid = response.statusCode === 200 ? String(response.headers['x-pod']) : `status ${response.statusCode}`
      resolve({ uid, ended })
    })
    sent.once('error', ({ message }) => resolve({ uid: message, ended: Promise.resolve(false) }))
  })
}

export function createTraffic(front: FrontAddress, pods: Pods): Traffic {
  async function whole(agent: Agent | false): Promise<string> {
    const { uid, ended } = await request(front, agent)
    return (await ended) ? uid : 'the answer broke off'
  }
  return {
    request: () => whole(false),
    async hold(): Promise<HeldRequest> {
      const { uid, ended } = await request(front, false, HOLD_PATH)
      return {
        uid,
        async release() {
          await pods.release(uid)
          return ended
        },
      }
    },
    keepAlive() {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      return Promise.resolve({ request: () => whole(agent), close: () => agent.destroy() })
    },
  }
}
