/** An Envoy and a Traefik, each with a file of its own. The content of the file is recorded after each script that sluice runs there. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { type EdsFile, type EnvoyProcess, startEnvoy } from '../../../adapters/conformance/beds/envoy-process.ts'
import { type DynamicFile, startTraefik, type TraefikProcess } from '../../../adapters/conformance/beds/traefik-process.ts'
import { PORT, type ProductBed } from '../product-bed.ts'
import { type Balancer, withoutRepetitions } from './balancer.ts'

export interface FileBalancer extends Balancer {
  file: string
  log: string
  /** Returns the entries of the config, with the scripts behind a prefix. */
  behind(prefix: readonly string[]): object[]
}

const END = '--\n'
/** The arguments are the file, the log, and the command. It writes to the log at once, since several scripts may run. */
const RECORD = `file=$0 log=$1; shift; "$@"; status=$?; text=$(cat "$file"; echo '--'); printf '%s\\n' "$text" >>"$log"; exit $status`

export async function startEnvoyBalancer(bed: ProductBed, program: string): Promise<FileBalancer & { envoy: EnvoyProcess }> {
  const folder = freshFolder(bed, 'envoy')
  // The pods are simulated, and get no request and no health check.
  const envoy = await startEnvoy({ program, folder, endpoints: bed.endpoints(), checked: 0 })
  const options = { file: envoy.file, cluster: 'web', admin: [envoy.admin] }
  const balancer = fileBalancer(bed, { name: 'mesh', adapter: 'envoy', options, folder }, (text) => {
    const [{ endpoints }] = (parse(text) as EdsFile).resources as [EdsFile['resources'][number]]
    return endpoints[0]!.lb_endpoints.map(({ health_status: status }) => status === 'DRAINING')
  })
  return {
    ...balancer,
    envoy,
    // Each write has a version of its own.
    settings: () => Promise.resolve(readFileSync(envoy.file, 'utf8').replace(/^version_info: .*$/m, '')),
    stop: () => envoy.stop(),
  }
}

export async function startTraefikBalancer(
  bed: ProductBed,
  program: string,
): Promise<FileBalancer & { traefik: TraefikProcess }> {
  const folder = freshFolder(bed, 'traefik')
  const throttle = '100ms'
  const traefik = await startTraefik({ program, folder, endpoints: bed.endpoints(), throttle, checkEvery: 'never' })
  const options = { file: traefik.file, service: 'web', api: [traefik.api], throttle, settle: '0s' }
  const balancer = fileBalancer(bed, { name: 'edge', adapter: 'traefik', options, folder }, (text) =>
    (parse(text) as DynamicFile).http.services.web.loadBalancer.servers.map(({ weight }) => weight === 0),
  )
  return {
    ...balancer,
    traefik,
    settings: () => Promise.resolve(readFileSync(traefik.file, 'utf8')),
    stop: () => traefik.stop(),
  }
}

/** Returns a fresh folder at a fixed place: the records of runs name the file, so later balancers need the same path. */
function freshFolder(bed: ProductBed, name: string): string {
  const folder = join(bed.folder, name)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  return folder
}

interface Kind {
  name: string
  adapter: string
  options: { file: string }
  folder: string
}

/** Starts a balancer with a file. `outs` returns whether each entry of the file is out, in the order of the pods. */
function fileBalancer(
  bed: ProductBed,
  { folder, options, ...kind }: Kind,
  outs: (text: string) => boolean[],
): Pick<FileBalancer, 'file' | 'log' | 'behind' | 'loadBalancers' | 'history'> {
  const { file } = options
  const log = join(folder, 'log')
  writeFileSync(log, `${readFileSync(file, 'utf8')}${END}`)
  const names = bed.names()
  const record = ['sh', '-c', RECORD, file, log]
  const behind = (prefix: readonly string[]): object[] => [
    { ...kind, port: PORT, options: { ...options, prefix: [...record, ...prefix] } },
  ]
  return {
    file,
    log,
    behind,
    loadBalancers: behind([]),
    history() {
      const states = readFileSync(log, 'utf8').split(END).slice(0, -1).map(outs)
      return withoutRepetitions(
        names,
        states.map((all) => (pod) => all[names.indexOf(pod)]!),
      )
    },
  }
}
