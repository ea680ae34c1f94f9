/** A real nginx in its own folder, on a unix socket. Its upstream is in its own file. */
import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { formatAddress } from '../../address.ts'
import type { Address } from '../../contract.ts'
import { startProduct } from './product-process.ts'

const WORKERS = 2

/** The reason why the tests with the installed nginx cannot run here. Undefined if they can. */
export function whyNoNginx(): string | undefined {
  const { error, status } = spawnSync('nginx', ['-v'], { stdio: 'ignore' })
  return error === undefined && status === 0 ? undefined : 'nginx is not installed (Debian: apt-get install nginx-light)'
}

export interface NginxProcess {
  /** The folder. `stop` removes it. */
  folder: string
  /** The socket for clients. */
  front: string
  upstreamFile: string
  pidFile: string
  /** The program with the arguments for this folder. */
  command: readonly string[]
  /** The lines of the upstream in the file. */
  upstream(): string
  /** Changes the file and reloads nginx, as an operator does. Resolves when the change is in effect. */
  edit(change: (text: string) => string): Promise<void>
  /** The process ids of the workers that accept requests. */
  workers(): number[]
  restart(): Promise<void>
  stop(): Promise<void>
}

export interface NginxOptions {
  program: string
  servers: readonly Address[]
  /** The port on 127.0.0.1 for clients, in addition to the socket. */
  frontPort?: number
}

function configuration(folder: string, frontPort: number | undefined): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `  ${name}_temp_path ${folder}/${name};`)
  return `${process.getuid?.() === 0 ? 'user root;\n' : ''}daemon off;
worker_processes ${WORKERS};
pid ${folder}/nginx.pid;
error_log ${folder}/error.log warn;
events { worker_connections 512; }
http {
  access_log off;
${temporary.join('\n')}
  map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
  include ${folder}/upstreams/*.conf;
  server {
    listen unix:${folder}/front.sock;
${frontPort === undefined ? '' : `    listen 127.0.0.1:${frontPort};\n`}    location / {
      proxy_pass http://web;
      proxy_http_version 1.1;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
      proxy_buffering off;
    }
  }
}
`
}

export async function startNginx({ program, servers, frontPort }: NginxOptions): Promise<NginxProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-nginx-'))
  const [configFile, front, pidFile] = ['nginx.conf', 'front.sock', 'nginx.pid'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const upstreamFile = join(folder, 'upstreams', 'web.conf')
  mkdirSync(join(folder, 'upstreams'))
  writeFileSync(configFile, configuration(folder, frontPort))
  const lines = servers.map((server) => `  server ${formatAddress(server)};\n`)
  writeFileSync(upstreamFile, `upstream web {\n${lines.join('')}}\n`)
  const args = ['-p', folder, '-c', configFile, '-e', join(folder, 'error.log')]

  /** A worker sets its process title a moment after it starts to serve. */
  async function isServingFully(): Promise<boolean> {
    return (await answers(front)) && workersOf(Number(readFileSync(pidFile, 'utf8'))).length === WORKERS
  }

  const product = await startProduct({ name: 'nginx', program, args, isReady: isServingFully }).catch((error: unknown) => {
    rmSync(folder, { recursive: true, force: true })
    throw error
  })

  const workers = (): number[] => workersOf(product.pid())

  return {
    folder,
    front,
    upstreamFile,
    pidFile,
    command: [program, ...args],
    upstream: () => readFileSync(upstreamFile, 'utf8'),
    workers,
    async edit(change) {
      writeFileSync(upstreamFile, change(readFileSync(upstreamFile, 'utf8')))
      const before = workers()
      await promisify(execFile)(program, [...args, '-s', 'reload'])
      while (workers().some((pid) => before.includes(pid)) || workers().length < WORKERS)
        await new Promise((resolve) => setTimeout(resolve, 5))
    },
    restart: () => product.restart(),
    async stop() {
      await product.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function workersOf(master: number): number[] {
  const children = readFileSync(`/proc/${master}/task/${master}/children`, 'utf8').trim().split(' ')
  return children.map(Number).filter((pid) => isServing(pid))
}

function isServing(pid: number): boolean {
  try {
    return /: worker process\s*$/.test(readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' '))
  } catch {
    return false
  }
}

function answers(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    get({ socketPath, path: '/', agent: false }, (response) => {
      response.resume()
      resolve(true)
    }).once('error', () => resolve(false))
  })
}
