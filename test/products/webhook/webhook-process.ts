import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { findPort } from '../../../adapters/conformance/beds/product-process.ts'
import { waitUntil } from '../../../adapters/conformance/beds/haproxy-process.ts'
import type { Json } from '../endpoints/control-plane.ts'

const SCRIPT = new URL('../../../src/cli/sluice.ts', import.meta.url).pathname

/** A process of `sluice webhook serve` with a certificate that it makes itself. */
export interface WebhookProcess {
  /** The URL that the API server asks. */
  url: string
  /** The lines of the log so far. */
  lines(): Json[]
  /** Whether /readyz says so, and why not. */
  readiness(): Promise<{ ready: boolean; because: Json[] }>
  metrics(): Promise<string>
  signal(signal: NodeJS.Signals): void
  /** Ends it by SIGTERM. Returns its exit code. */
  stop(): Promise<number | null>
}

export interface WebhookProcessOptions {
  kubeconfig: string
  namespaces: readonly string[]
  rules: string
  /** Further arguments. Default: -v, so that the log has skipped requests too. */
  args?: readonly string[]
  port?: number
  /** The script of sluice. Default: its source. */
  script?: string
  /** Waits until it is ready. Default: true. */
  awaitsReady?: boolean
}

export async function startWebhookProcess(options: WebhookProcessOptions): Promise<WebhookProcess> {
  const [port, metricsPort] = [options.port ?? (await findPort()), await findPort()]
  const where = ['--listen', `127.0.0.1:${port}`, '--metrics-listen', `127.0.0.1:${metricsPort}`, '--leave', '100ms']
  const certificate = ['--own-certificate', '--certificate-host', '127.0.0.1']
  const own = ['--kubeconfig', options.kubeconfig, '--own-namespace', 'sluice-webhook', '--rules', options.rules]
  const namespaces = options.namespaces.flatMap((one) => ['--namespace', one])
  const args = ['webhook', 'serve', ...own, ...namespaces, ...certificate, ...where, ...(options.args ?? ['-v'])]
  const child: ChildProcess = spawn(process.execPath, [options.script ?? SCRIPT, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const killed = (): void => void child.kill('SIGKILL')
  process.on('exit', killed)
  let text = ''
  child.stderr!.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null
  const metricsUrl = `http://127.0.0.1:${metricsPort}`
  const readiness = async (): Promise<{ ready: boolean; because: Json[] }> =>
    (await (await fetch(`${metricsUrl}/readyz`)).json()) as { ready: boolean; because: Json[] }
  const lines = (): Json[] =>
    text
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Json)

  async function stop(): Promise<number | null> {
    if (!hasEnded()) {
      child.kill('SIGCONT')
      child.kill('SIGTERM')
      await once(child, 'exit')
    }
    process.off('exit', killed)
    return child.exitCode
  }
  try {
    await waitUntil(async () => {
      if (hasEnded()) return true
      const isListening = lines().some(({ msg }) => msg === 'Listening')
      return isListening && (options.awaitsReady === false || (await readiness()).ready)
    }, 'the webhook serves')
    if (hasEnded()) throw new Error(`it ended with ${child.exitCode}`)
  } catch (error) {
    await stop()
    throw new Error(`the webhook did not start: ${text.slice(-5_000)}`, { cause: error })
  }
  return {
    url: `https://127.0.0.1:${port}/admit`,
    lines,
    readiness,
    metrics: async () => (await fetch(`${metricsUrl}/metrics`)).text(),
    signal: (signal) => void child.kill(signal),
    stop,
  }
}
