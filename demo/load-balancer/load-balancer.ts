/** A small load balancer for HTTP: a reverse proxy, and a REST API to administer it. For the demo and for tests. */
import type { Server as HttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type AdminCall, createAdmin } from './admin.ts'
import { startHealthChecks } from './health.ts'
import { createPool, type Server, type ServerOptions } from './pool.ts'
import { createProxy } from './proxy.ts'

export interface LoadBalancerOptions {
  servers: readonly ServerOptions[]
  /** The host of both sides. The default is 127.0.0.1. */
  host?: string
  /** The default is any free port. */
  adminPort?: number
  /** The default is any free port. */
  trafficPort?: number
  /** Where given, changes need `Authorization: Bearer TOKEN`. */
  token?: string
  /** Where given, a server that takes no connection gets no requests. Otherwise such a server gets requests, and clients get a 502. */
  healthCheckEveryMs?: number
}

export interface LoadBalancer {
  /** `http://127.0.0.1:PORT` */
  adminUrl: string
  trafficUrl: string
  /** Every call on the admin API since the start, in order. */
  calls: readonly AdminCall[]
  /** The servers in their present state. */
  servers(): readonly Server[]
  /** Forgets all settings, as a restart would. */
  restart(): void
  /** Aborts open requests. */
  close(): Promise<void>
}

async function listen(server: HttpServer, host: string, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const { address, port: bound, family } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`
}

function shut(server: HttpServer): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

/** Rejects where a port is taken. */
export async function createLoadBalancer(options: LoadBalancerOptions): Promise<LoadBalancer> {
  const { servers, host = '127.0.0.1', adminPort = 0, trafficPort = 0, token, healthCheckEveryMs } = options
  const pool = createPool(servers)
  const calls: AdminCall[] = []
  const admin = createAdmin(pool, { token, record: (call) => calls.push(call) })
  const proxy = createProxy(pool)
  const adminUrl = await listen(admin, host, adminPort)
  const trafficUrl = await listen(proxy, host, trafficPort).catch(async (error: unknown) => {
    await shut(admin)
    throw error
  })
  const stopHealthChecks = healthCheckEveryMs === undefined ? () => {} : startHealthChecks(pool, healthCheckEveryMs)
  return {
    adminUrl,
    trafficUrl,
    calls,
    servers: () => pool.servers(),
    restart() {
      pool.forget()
    },
    async close() {
      stopHealthChecks()
      await Promise.all([shut(admin), shut(proxy)])
    },
  }
}
