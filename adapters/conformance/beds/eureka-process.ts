/** A real Eureka server, on a port of 127.0.0.1. Its lists show a change at once: the cache of 30 s is turned off. */
import { type ChildProcess, spawn } from 'node:child_process'
import { freePort } from './caddy-process.ts'
import { waitUntil } from './haproxy-process.ts'

export type InstanceStatus = 'UP' | 'DOWN' | 'OUT_OF_SERVICE' | 'UNKNOWN'

export interface Instance {
  instanceId: string
  ipAddr: string
  port: { $: number; '@enabled': string }
  status: InstanceStatus
  overriddenStatus: InstanceStatus
}

export interface EurekaProcess {
  /** With `/eureka` at its end. */
  url: string
  register(app: string, instance: { id: string; address: string; port: number }): Promise<void>
  /** The instance itself, not from a list. */
  instance(app: string, id: string): Promise<Instance>
  /** As clients get them. */
  instances(app: string): Promise<Instance[]>
  override(app: string, id: string, status: InstanceStatus | undefined): Promise<void>
  /** All is forgotten. */
  restart(): Promise<void>
  stop(): Promise<void>
}

export async function startEureka(jar: string): Promise<EurekaProcess> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/eureka`
  let child: ChildProcess
  let output = ''

  async function start(): Promise<void> {
    const flags = [
      `--server.port=${port}`,
      '--server.address=127.0.0.1',
      '--eureka.client.register-with-eureka=false',
      '--eureka.client.fetch-registry=false',
      '--eureka.server.use-read-only-response-cache=false',
    ]
    child = spawn('java', ['-Xmx192m', '-XX:TieredStopAtLevel=1', '-jar', jar, ...flags], { stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [child.stdout!, child.stderr!])
      stream.on('data', (chunk: Buffer) => (output = `${output}${chunk.toString()}`.slice(-4000)))
    await waitUntil(async () => {
      if (child.exitCode !== null) throw new Error(`Eureka ended: ${output}`)
      return (await fetch(`${url}/apps`)).ok
    }, 'Eureka serves')
  }
  async function end(): Promise<void> {
    const exited = new Promise((resolve) => child.once('exit', resolve))
    if (child.exitCode === null && child.kill('SIGKILL')) await exited
  }
  const killAtExit = (): void => void child.kill('SIGKILL')
  process.once('exit', killAtExit)

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
  async function stop(): Promise<void> {
    await end()
    process.off('exit', killAtExit)
  }
  try {
    await start()
  } catch (error) {
    await stop()
    throw error
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
          // Nobody sends heartbeats.
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
    async restart() {
      await end()
      await start()
    },
    stop,
  }
}
