import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startChild } from './testing/child.ts'
import { kubeconfigOf } from './testing/kubeconfig.ts'

const ROOT = join(import.meta.dirname, '../..')
const ENTRY = join(import.meta.dirname, 'sluice.ts')
const BUG = 'This is a bug in sluice.'
const PLANS: string[][] = [['plan'], ['upgrade', '--dry-run'], ['undo', '--dry-run']]

/** A folder without a home, so that no kubeconfig of this machine is found. */
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-plan-'))
  const loadBalancer = { name: 'edge', adapter: 'haproxy', port: 8080, options: { socket: '/run/none.sock', backend: 'web' } }
  const config = { apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers: [loadBalancer] }
  // Any JSON is YAML.
  writeFileSync(join(folder, 'sluice.yaml'), JSON.stringify(config))
})
afterAll(() => rmSync(folder, { recursive: true }))

async function end(entry: string, args: readonly string[]) {
  const child = startChild([entry, ...args], { cwd: folder, env: { HOME: folder } })
  return { code: await child.end(), stdout: child.stdout(), stderr: child.stderr() }
}

/** Starts a process that waits for an API server without answers, and makes a mistake on SIGUSR2. */
async function waiting(mistake: string, args: readonly string[]) {
  const server = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1')
  const asked = new Promise((resolve) => server.once('connection', resolve))
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  writeFileSync(join(folder, 'kubeconfig'), kubeconfigOf(`http://127.0.0.1:${port}`))
  const preload = `data:text/javascript,process.on('SIGUSR2',()=>{${encodeURIComponent(mistake)}})`
  const child = startChild(['--import', preload, ENTRY, ...args, '--kubeconfig', 'kubeconfig'], {
    cwd: folder,
    env: { HOME: folder },
  })
  onTestFinished(() => void child.process.kill('SIGKILL'))
  await asked
  return child
}

describe('a plan in which sluice makes a mistake does not say that there are changes', () => {
  test.each(PLANS.map((args) => [args]))('%s: an exception that nobody catches', async ([command = '', ...flags]) => {
    const child = await waiting("throw new TypeError('no plan')", [command, 'sts/web', ...flags])
    child.process.kill('SIGUSR2')
    expect(await child.end()).toBe(3)
    expect(child.stderr()).toContain(`error: TypeError: no plan\n${BUG}`)
  })

  test('a promise that nobody waits for', async () => {
    const child = await waiting("Promise.reject(new TypeError('no plan'))", ['plan', 'sts/web'])
    child.process.kill('SIGUSR2')
    expect(await child.end()).toBe(3)
    expect(child.stderr()).toContain(`error: TypeError: no plan\n${BUG}`)
  })
})

describe('an installation that is not whole', () => {
  /** Copies the program without one of its files. The other folders stay as they are. */
  function installed(without: string): string {
    const place = mkdtempSync(join(folder, 'installed-'))
    const cli = join(place, 'src/cli')
    mkdirSync(cli, { recursive: true })
    cpSync(join(ROOT, 'package.json'), join(place, 'package.json'))
    symlinkSync(join(ROOT, 'node_modules'), join(place, 'node_modules'))
    for (const name of readdirSync(join(ROOT, 'src')).filter((one) => one !== 'cli'))
      symlinkSync(join(ROOT, 'src', name), join(place, 'src', name))
    const isKept = (path: string): boolean => !path.endsWith('.test.ts') && !path.endsWith(without)
    cpSync(import.meta.dirname, cli, { recursive: true, filter: isKept })
    return join(cli, 'sluice.ts')
  }

  test('without its beginning says so, and does not say that there are changes', async () => {
    const { code, stderr } = await end(installed('cli/main.ts'), ['plan', 'sts/web'])
    expect(stderr).toMatch(/^sluice cannot start, and has touched nothing: install it again \(Error.*main\.ts.*\)\n$/)
    expect(code).toBe(3)
  })

  test('without the file of its version is no better', async () => {
    const entry = installed('nothing')
    rmSync(join(entry, '../../../package.json'))
    const { code, stderr } = await end(entry, ['plan', 'sts/web'])
    expect(stderr).toMatch(/^sluice cannot start, .*package\.json/)
    expect(code).toBe(3)
  })

  test.each([...PLANS.map((args) => [args, 3] as const), [['upgrade'], 1] as const])(
    'without a part of a command: %s exits with %i',
    async ([command = '', ...flags], code) => {
      const ended = await end(installed('cli/world.ts'), [command, 'sts/web', ...flags])
      expect(ended.stderr).toContain(BUG)
      expect(ended.code).toBe(code)
    },
  )
})
