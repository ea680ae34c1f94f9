/** A real Eureka server on a port of 127.0.0.1. Its lists show a change at once, because its cache of 30 s is off. */
import { findPort, startProduct } from './product-process.ts'

export type InstanceStatus = 'UP' | 'DOWN' | 'OUT_OF_SERVICE' | 'UNKNOWN'

export interface Instance {
  instanceId: string
  ipAddr: string
  port: { $: number; '@enabled': string }
  status: InstanceStatus
  overriddenStatus: InstanceStatus
}

export interface EurekaProcess {
  /** The URL, with `/eureka` at its end. */
  url: string
  register(app: string, instance: { id: string; address: string; port: number }): Promise<void>
  /** Reads the instance itself, not a list. */
  instance(app: string, id: string): Promise<Instance>
  /** Reads the list that clients get. */
  instances(app: string): Promise<Instance[]>
  override(app: string, id: string, status: InstanceStatus | undefined): Promise<void>
  /** Restarts the server, so it loses all its data. */
  restart(): Promise<void>
  stop(): Promise<void>
}

export async function startEureka(jar: string): Promise<EurekaProcess> {
  const port = await findPort()
  const url = `http://127.0.0.1:${port}/eureka`
  const flags = [
    `--server.port=${port}`,
    '--server.address=127.0.0.1',
    '--eureka.client.register-with-eureka=false',
    '--eureka.client.fetch-registry=false',
    '--eureka.server.use-read-only-response-cache=false',
  ]
  const running = await startProduct({
    name: 'Eureka',
    program: 'java',
    args: ['-Xmx192m', '-XX:TieredStopAtLevel=1', '-jar', jar, ...flags],
    isReady: async () => (await fetch(`${url}/apps`)).ok,
  })

  async function ask(method: string, path: string, body?: object): Promise<unknown> {
    const headers = { accept: 'application/json', 'content-type': 'application/json' }
    const answer = await fetch(`${url}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`Eureka answered ${method} ${path} with ${answer.status}: ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }
  return {
    url,
    async register(app, { id, address, port: own }) {
      await ask('POST', `/apps/${app}`, {
        instance: {
          instanceId: id,
          hostName: address,
          app,
          ipAddr: address,
          status: 'UP',
          port: { $: own, '@enabled': 'true' },
          securePort: { $: 443, '@enabled': 'false' },
          vipAddress: app.toLowerCase(),
          dataCenterInfo: { '@class': 'com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo', name: 'MyOwn' },
          // The bed sends no heartbeats, so the lease must last longer than the test.
          leaseInfo: { renewalIntervalInSecs: 30, durationInSecs: 3600 },
        },
      })
    },
    instance: async (app, id) => ((await ask('GET', `/apps/${app}/${id}`)) as { instance: Instance }).instance,
    instances: async (app) =>
      ((await ask('GET', `/apps/${app}`)) as { application: { instance: Instance[] } }).application.instance,
    async override(app, id, status) {
      const path = `/apps/${app}/${id}/status?value=${status ?? 'UP'}`
      await ask(status === undefined ? 'DELETE' : 'PUT', path)
    },
    restart: () => running.restart(),
    stop: () => running.stop(),
  }
}
