/** A simulated load balancer as a bed of the conformance kit. Its clock stands still: every call settles at once. */
import type { Bed, Oracle, WireFault } from '../../../adapters/conformance/bed.ts'
import type { Endpoint } from '../../../adapters/contract.ts'
import { createLoadBalancer } from '../../../sim/load-balancer/balancer.ts'
import type { LoadBalancerOptions } from '../../../sim/load-balancer/balancer.ts'
import type { Wire } from '../../../sim/load-balancer/wire.ts'
import { WireError } from '../../../sim/load-balancer/wire.ts'
import type { Level } from '../../../sim/load-balancer/write.ts'
import { createVirtualClock } from '../../../src/kube/testing/virtual-clock.ts'
import { createSimulatedAdapter } from './simulated-adapter.ts'

export function makeSimulatedBed(level: Level, over: Partial<LoadBalancerOptions> = {}) {
  return ({ servers }: { servers: number }): Promise<Bed> => {
    const endpoints: Endpoint[] = Array.from({ length: servers }, (_, index) => {
      return { uid: `uid-${index}`, pod: `web-${index}`, address: `10.0.${index >> 8}.${index & 255}`, port: 80 }
    })
    let next: WireFault | undefined
    let sent = 0
    let mayChange = true

    const balancer = createLoadBalancer({
      name: 'edge',
      level,
      servers: endpoints.map(({ pod, address, port }) => ({ name: pod, address, port })),
      clock: createVirtualClock(),
      random: { next: () => 0.5 },
      batchMax: 5,
      volatile: true,
      fault() {
        if (!mayChange) return 'forbidden'
        if (next !== 'false-success') return undefined
        next = undefined
        return 'false-success'
      },
      ...over,
    })

    /** The method is async, so that an error of `leave` rejects the call. */
    const wire: Wire = {
      async call({ name, leave, arrive }) {
        const isEffect = name === 'drain' || name === 'restore'
        const fault = isEffect && next !== 'false-success' ? next : undefined
        if (fault !== 'refused' && fault !== undefined) next = undefined
        if (fault === 'refused' || fault === 'cut-before-effect') throw new WireError('no connection', { bytesLeft: false })
        leave()
        if (isEffect) sent += 1
        if (fault === 'request-lost') throw new WireError('the connection broke', { bytesLeft: true })
        const answer = arrive()
        if (fault === 'reply-lost') throw new WireError('the connection broke', { bytesLeft: true })
        // The delay exceeds the deadline of the call; a case may instead wait for the end of the adapter.
        if (fault === 'no-answer') await new Promise((resolve) => setTimeout(resolve, 50))
        if (fault === 'no-answer') throw new WireError('no answer within the deadline', { bytesLeft: true })
        return answer
      },
    }

    const adminOf: Oracle['admin'] = ({ pod }) => {
      const { admin } = balancer.state(pod)!
      return Promise.resolve(admin === 'ready' ? 'in' : admin === 'drain' ? 'draining' : 'out')
    }
    const set = ({ pod }: Endpoint, to: Parameters<typeof balancer.operator.set>[1]) =>
      Promise.resolve(balancer.operator.set(pod, to))
    const uidOf = (name: string | undefined) => endpoints.find(({ pod }) => pod === name)?.uid ?? 'no server'
    function request(): Promise<string> {
      const routed = balancer.route()
      routed?.end()
      return Promise.resolve(uidOf(routed?.name))
    }

    return Promise.resolve({
      adapter: () => createSimulatedAdapter({ balancer, wire, process: 'kit' }),
      endpoints,
      oracle: { admin: adminOf, weight: ({ pod }) => Promise.resolve(balancer.state(pod)!.weight) },
      operator: {
        maint: (endpoint) => set(endpoint, { admin: 'maint' }),
        drain: (endpoint) => set(endpoint, { admin: 'drain' }),
        ready: (endpoint) => set(endpoint, { admin: 'ready' }),
        weight: (endpoint, weight) => set(endpoint, { weight }),
      },
      traffic: {
        request,
        hold() {
          const { name, end } = balancer.route()!
          return Promise.resolve({
            uid: uidOf(name),
            release() {
              end()
              return Promise.resolve(true)
            },
          })
        },
        keepAlive: () => Promise.resolve({ request, close: () => {} }),
      },
      wire: {
        next(fault) {
          next = fault
        },
        heal() {
          next = undefined
        },
        effectCalls: () => sent,
      },
      absent: { id: 'gone@10.9.9.9:80', scope: 'edge' },
      restart: () => Promise.resolve(balancer.reload()),
      powerless() {
        mayChange = false
        return createSimulatedAdapter({ balancer, wire, process: 'powerless' })
      },
      fencing: level === 'G3',
      close: () => Promise.resolve(),
    })
  }
}
