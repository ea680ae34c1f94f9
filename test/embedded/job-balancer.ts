import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface JobServer {
  name: string
  address: string
  state: string
}

/** A load balancer whose changes are jobs: accepted with 202, and done later, one at a time. A change meanwhile is a conflict. */
export interface JobBalancer {
  readonly url: string
  readonly servers: JobServer[]
  /** Each requested change with its answer, such as `web-0 drain 202`. */
  readonly writes: string[]
  /** Each request, including reads, such as `GET /servers`. */
  readonly requests: string[]
  /** Adds a listener for accepted changes. It is called after the answer. */
  onAccepted(listener: (write: string) => void): void
  stop(): Promise<void>
}

export interface JobBalancerOptions {
  servers: JobServer[]
  jobMs: number
}

export async function startJobBalancer({ servers, jobMs }: JobBalancerOptions): Promise<JobBalancer> {
  const writes: string[] = []
  const requests: string[] = []
  const listeners: ((write: string) => void)[] = []
  let pending: NodeJS.Timeout | undefined
  let jobs = 0

  function answer(response: ServerResponse, status: number, body: unknown): void {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }

  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    requests.push(`${request.method} ${request.url}`)
    if (request.method === 'GET') return answer(response, 200, { servers })
    const name = decodeURIComponent(request.url!.split('/').at(-1)!)
    const { state } = JSON.parse(text) as { state: string }
    const status = pending === undefined ? 202 : 409
    writes.push(`${name} ${state} ${status}`)
    if (status === 409) return answer(response, status, { error: 'a change is pending' })
    const job = jobs++
    pending = setTimeout(() => {
      pending = undefined
      servers.find((one) => one.name === name)!.state = state
    }, jobMs)
    answer(response, status, { job })
    response.once('close', () => {
      for (const listener of listeners) listener(`${name} ${state}`)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    servers,
    requests,
    writes,
    onAccepted: (listener) => void listeners.push(listener),
    async stop() {
      clearTimeout(pending)
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
