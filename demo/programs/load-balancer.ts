/**
 * Runs the embedded load balancer in a process of its own. `OPTIONS` in the environment has the LoadBalancerOptions. One line on
 * standard output tells where it listens. The process ends with its standard input.
 */
import type { Listening } from '../balancers/embedded.ts'
import { type LoadBalancerOptions, createLoadBalancer } from '../load-balancer/load-balancer.ts'

const options = JSON.parse(process.env['OPTIONS'] ?? '') as LoadBalancerOptions

process.stdin.on('close', () => process.exit(1)).resume()

async function serve(): Promise<void> {
  const { adminUrl, trafficUrl } = await createLoadBalancer(options)
  const listening: Listening = { adminUrl, trafficUrl }
  process.stdout.write(`${JSON.stringify(listening)}\n`)
}

void serve()
