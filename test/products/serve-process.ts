import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import type { Served, ServedConfig } from '../../adapters/conformance/beds/envoy.ts'

const SCRIPT = join(import.meta.dirname, '../../src/cli/sluice.ts')

export interface ServeProcess extends Omit<Served, 'stop'> {
  /** Returns all output so far. */
  said(): string
  /** Ends the process by SIGTERM, and returns its exit code. */
  stop(): Promise<number | null>
}

/** Starts `sluice adapter serve`, on any free port by default. */
export async function startServe({ folder, loadBalancer }: ServedConfig, port = 0): Promise<ServeProcess> {
  const config = join(folder, 'served.yaml')
  await writeFile(config, stringify({ apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers: [loadBalancer] }))
  const { name } = loadBalancer as { name: string }
  const args = [SCRIPT, 'adapter', 'serve', name, '--config', config, '--listen', `127.0.0.1:${port}`]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  const listening = new Promise<number>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text
      const found = /is served at http:\/\/127\.0\.0\.1:(\d+)/.exec(said)?.[1]
      if (found !== undefined) resolve(Number(found))
    })
    child.once('exit', (code) => reject(new Error(`it ended with ${code}: ${said}`)))
  })
  return {
    port: await listening,
    said: () => said,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGTERM')
        await once(child, 'exit')
      }
      return child.exitCode
    },
  }
}
