/** A real nginx whose file has an upstream for each workload. The loaded file is recorded at each reload. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type NginxProcess, startNginx } from '../../../adapters/conformance/beds/nginx-process.ts'
import { PORT, type ProductBed } from '../product-bed.ts'
import { type Balancer, withoutRepetitions } from './balancer.ts'

export interface NginxBalancer extends Balancer {
  process: NginxProcess
  /** Returns the file as it was last loaded: another process may write between a write and its reload. */
  loaded(): string
  /** Returns the entries of the config, with the scripts behind a prefix. */
  behind(prefix: readonly string[]): object[]
}

const END = '--\n'
/** The arguments are the file, the log, and the command that reloads. */
const RECORD = `cat "$0" >>"$1"; echo '--' >>"$1"; shift; exec "$@"`

export async function startNginxBalancer(bed: ProductBed, program: string, workloads: readonly string[]): Promise<NginxBalancer> {
  const [first, ...others] = workloads
  const process = await startNginx({ program, servers: bed.endpoints(first) })
  for (const name of others) {
    const lines = bed.endpoints(name).map(({ address }) => `server ${address};`)
    await process.edit((text) => `${text}upstream ${name} { ${lines.join(' ')} }\n`)
  }
  // The first upstream has the name that the server of nginx uses.
  const upstreamOf = (workload: string): string => (workload === first ? 'web' : workload)
  const log = join(process.folder, 'loaded')
  const addresses = new Map(bed.pods().map(({ metadata, status }) => [metadata.name, status!.podIP!]))
  writeFileSync(log, `${process.upstream()}${END}`)
  const options = {
    file: process.upstreamFile,
    pidFile: process.pidFile,
    test: [...process.command, '-t'],
    reload: ['sh', '-c', RECORD, process.upstreamFile, log, ...process.command, '-s', 'reload'],
    settle: '0s',
  }
  const texts = (): string[] => readFileSync(log, 'utf8').split(END).slice(0, -1)

  function isDown(text: string, pod: string): boolean {
    const line = new RegExp(`server ${addresses.get(pod)!.replaceAll('.', '\\.')}(?::${PORT})?( down)?;`)
    return line.exec(text)![1] !== undefined
  }
  const entries = (more: object): object[] =>
    workloads.map((name) => ({
      name,
      adapter: 'nginx',
      port: PORT,
      options: { ...options, ...more, upstream: upstreamOf(name) },
    }))

  return {
    process,
    loadBalancers: entries({}),
    behind: (prefix) => entries({ hosts: [{ name: 'lb', prefix }] }),
    history: () =>
      withoutRepetitions(
        [...addresses.keys()],
        texts().map((text) => (pod) => isDown(text, pod)),
      ),
    loaded: () => texts().at(-1)!,
    settings: () => Promise.resolve(process.upstream()),
    stop: () => process.stop(),
  }
}
