/** Tests of the adapter nginx beyond the conformance kit, on a real nginx. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'
import { describeOnEachNginx } from '../../test/products/nginx.ts'
import { type NginxProcess, startNginx } from '../conformance/beds/nginx-process.ts'
import { createTraffic, type Pods, startPods } from '../conformance/beds/pods.ts'
import type { Adapter, AdapterError, EffectCall, EffectResult, Endpoint, Json, Target } from '../contract.ts'
import { createHost } from '../host/host.ts'
import { nginx } from './index.ts'
import { noNewerWorkers, workersScript } from './scripts.ts'

const run = promisify(execFile)

/** The time limit for many reloads on a busy machine. */
const LONG = { timeout: 120_000 }
const POLL = { timeout: 20_000, interval: 20 }

const cleanUps: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
})

function callOf(targets: readonly Target[]): EffectCall {
  return { deadlineMs: 20_000, assertLive: () => {}, operationIds: new Map(targets.map(({ id }) => [id, 'f00d'])), fence: 1 }
}

async function start(program: string, servers: readonly Endpoint[]): Promise<NginxProcess> {
  const process = await startNginx({ program, servers })
  cleanUps.push(() => process.stop())
  return process
}

async function startWithPods(program: string): Promise<{ process: NginxProcess; pods: Pods }> {
  const pods = await startPods(3)
  cleanUps.push(() => pods.close())
  return { process: await start(program, pods.endpoints), pods }
}

function optionsFor({ upstreamFile, pidFile, command }: NginxProcess, over: object = {}): object {
  const commands = { test: [...command, '-t'], reload: [...command, '-s', 'reload'] }
  return { file: upstreamFile, upstream: 'web', pidFile, ...commands, settle: '0s', ...over }
}

function create(options: object): Adapter {
  const adapter = nginx.create(nginx.options.parse(options), { name: 'edge' })
  cleanUps.push(() => adapter.close())
  return adapter
}

async function targetsOf(adapter: Adapter, endpoints: readonly Endpoint[]): Promise<Target[]> {
  const found = await adapter.resolve(endpoints, callOf([]))
  return found.flatMap((one) => {
    if (!one.found) throw new Error(one.reason)
    return one.targets
  })
}

async function observe(adapter: Adapter, target: Target): Promise<{ admin: string; detail?: string | undefined }> {
  const { admin, detail } = (await adapter.inspect([target], callOf([target]))).get(target.id)!
  return { admin, detail }
}

async function priorOf(adapter: Adapter, target: Target): Promise<Json> {
  return (await adapter.snapshot([target], callOf([target]))).get(target.id)!.prior
}

async function drain(adapter: Adapter, targets: readonly Target[]): Promise<(EffectResult | undefined)[]> {
  const results = await adapter.drain(targets, callOf(targets))
  return targets.map(({ id }) => results.get(id))
}

async function restore(adapter: Adapter, target: Target, prior: Json): Promise<EffectResult | undefined> {
  return (await adapter.restore([{ target, prior }], callOf([target]))).get(target.id)
}

const APPLIED: EffectResult = { outcome: 'applied' }

await describeOnEachNginx((program) => {
  describe('a drain', () => {
    test('answers when no worker sends requests there any more, ten times', LONG, async () => {
      const { process, pods } = await startWithPods(program)
      const traffic = createTraffic({ socketPath: process.front }, pods)
      const adapter = create(optionsFor(process))
      const before = process.upstream()
      const [target] = await targetsOf(adapter, [pods.endpoints[0]!])
      const prior = await priorOf(adapter, target!)
      const late: string[] = []
      for (let turn = 0; turn < 10; turn += 1) {
        expect(await drain(adapter, [target!])).toEqual([APPLIED])
        for (let sent = 0; sent < 12; sent += 1) late.push(await traffic.request())
        expect(await restore(adapter, target!, prior)).toEqual(APPLIED)
        expect(process.upstream()).toBe(before)
      }
      expect(new Set(late)).toEqual(new Set(['uid-1', 'uid-2']))
    })

    test('a reload that nobody waits for still sends requests there (negative control)', LONG, async () => {
      const { process, pods } = await startWithPods(program)
      const traffic = createTraffic({ socketPath: process.front }, pods)
      const [command, ...args] = process.command
      const reached: string[] = []
      for (let turn = 0; turn < 10 && !reached.includes('uid-0'); turn += 1) {
        const down = process.upstream().replace(/(:\d+);/, '$1 down;')
        writeFileSync(process.upstreamFile, down)
        await run(command!, [...args, '-s', 'reload'])
        for (let sent = 0; sent < 6; sent += 1) reached.push(await traffic.request())
        await process.edit((text) => text.replace(' down;', ';'))
      }
      expect(reached).toContain('uid-0')
    })

    test('50 of 500 servers: one reload', async () => {
      const servers = Array.from({ length: 500 }, (_, index): Endpoint => {
        return { uid: `uid-${index}`, pod: `web-${index}`, address: '127.0.0.2', port: index + 1 }
      })
      const process = await start(program, servers)
      const counted = join(process.folder, 'reloads')
      const reload = ['sh', '-c', `echo reload >>"$0" && exec "$@"`, counted, ...process.command, '-s', 'reload']
      const adapter = create(optionsFor(process, { reload }))
      const targets = await targetsOf(adapter, servers.slice(100, 150))
      expect(await drain(adapter, targets)).toEqual(targets.map(() => APPLIED))
      expect(readFileSync(counted, 'utf8')).toBe('reload\n')
      const drained = process.upstream().match(/127\.0\.0\.2:\d+ down; # sluice [0-9a-f]{8}\.\d+\n/g)
      expect(drained?.map((line) => Number(/:(\d+)/.exec(line)![1]))).toEqual(servers.slice(100, 150).map(({ port }) => port))
    })

    test('beside an error of somebody else: the file is as it was, and nothing is reloaded', async () => {
      const { process, pods } = await startWithPods(program)
      const before = process.upstream()
      const workers = process.workers()
      const broken = join(process.folder, 'upstreams', 'broken.conf')
      writeFileSync(broken, 'no_such_directive;\n')
      const adapter = create(optionsFor(process))
      const [target] = await targetsOf(adapter, [pods.endpoints[0]!])
      await expect(drain(adapter, [target!])).rejects.toMatchObject({
        kind: 'fatal',
        message: expect.stringMatching(/-t refuses the configuration.*unknown directive "no_such_directive".*is as it was/s),
      })
      rmSync(broken)
      expect(process.upstream()).toBe(before)
      expect(process.workers()).toEqual(workers)
      expect((await observe(adapter, target!)).admin).toBe('in')
      expect(await drain(adapter, [target!])).toEqual([APPLIED])
    })

    test('by the word drain, which nginx 1.22 does not know', async () => {
      const { process, pods } = await startWithPods(program)
      const before = process.upstream()
      const adapter = create(optionsFor(process, { word: 'drain' }))
      const [target] = await targetsOf(adapter, [pods.endpoints[0]!])
      const { stderr: version } = await run(program, ['-v'])
      const outcome = await drain(adapter, [target!]).then(
        ([result]) => result!.outcome,
        ({ kind, message }: AdapterError) => `${kind}: ${/invalid parameter "\w+"/.exec(message)?.[0]}`,
      )
      const knows = !version.includes('/1.22.')
      expect(outcome).toBe(knows ? 'applied' : 'fatal: invalid parameter "drain"')
      expect(process.upstream()).toMatch(knows ? / drain; # sluice [0-9a-f]{8}\.\d+\n/ : before)
      expect((await observe(adapter, target!)).admin).toBe(knows ? 'draining' : 'in')
    })

    test('in a file of the server lines alone, and in the whole configuration', async () => {
      const { process, pods } = await startWithPods(program)
      const lines = join(process.folder, 'servers')
      const main = join(process.folder, 'nginx.conf')
      await process.edit((text) => {
        writeFileSync(lines, text.split('\n').slice(1, -2).join('\n'))
        writeFileSync(main, readFileSync(main, 'utf8').replace(/include .*;/, `upstream web { include ${lines}; }`))
        return ''
      })
      const [included] = await targetsOf(create(optionsFor(process, { file: lines, upstream: undefined })), [pods.endpoints[0]!])
      expect(included).toEqual({ id: `127.0.0.1:${pods.endpoints[0]!.port}`, scope: lines })
      const adapter = create(optionsFor(process, { file: lines, upstream: undefined }))
      expect(await drain(adapter, [included!])).toEqual([APPLIED])
      await process.edit(() => {
        const text = readFileSync(main, 'utf8').replace(
          `include ${lines};`,
          readFileSync(lines, 'utf8').replaceAll(/ down; #.*/g, ';'),
        )
        writeFileSync(main, text)
        return ''
      })
      const whole = create(optionsFor(process, { file: main }))
      const [target] = await targetsOf(whole, [pods.endpoints[0]!])
      const before = readFileSync(main, 'utf8')
      const prior = await priorOf(whole, target!)
      expect(await drain(whole, [target!])).toEqual([APPLIED])
      const traffic = createTraffic({ socketPath: process.front }, pods)
      const reached: string[] = []
      for (let sent = 0; sent < 12; sent += 1) reached.push(await traffic.request())
      expect(new Set(reached)).toEqual(new Set(['uid-1', 'uid-2']))
      expect(await restore(whole, target!, prior)).toEqual(APPLIED)
      expect(readFileSync(main, 'utf8')).toBe(before)
    })

    test('without the program that reloads nginx, it is fatal and names it', async () => {
      const { process, pods } = await startWithPods(program)
      const adapter = create(optionsFor(process, { test: ['no-nginx-here', '-t'] }))
      const [target] = await targetsOf(adapter, [pods.endpoints[0]!])
      const before = process.upstream()
      await expect(drain(adapter, [target!])).rejects.toMatchObject({
        kind: 'fatal',
        message: expect.stringContaining('no-nginx-here'),
      })
      expect(process.upstream()).toBe(before)
    })
  })

  describe('a line that is written and not loaded', () => {
    test('is not drained yet: another drain loads it, and a restore takes it back', async () => {
      const { process, pods } = await startWithPods(program)
      const before = process.upstream()
      const dying = create(optionsFor(process, { reload: ['false'] }))
      const adapter = create(optionsFor(process))
      const [target] = await targetsOf(adapter, [pods.endpoints[0]!])
      const prior = await priorOf(adapter, target!)
      await expect(drain(dying, [target!])).rejects.toMatchObject({ kind: 'ambiguous' })
      const address = `127.0.0.1:${pods.endpoints[0]!.port}`
      expect(await observe(adapter, target!)).toEqual({ admin: 'in', detail: `${address}: down, not loaded yet` })
      const written = process.upstream()
      expect(await drain(adapter, [target!])).toEqual([APPLIED])
      expect(process.upstream()).toBe(written)
      expect((await observe(adapter, target!)).admin).toBe('draining')

      await expect(restore(dying, target!, prior)).rejects.toMatchObject({ kind: 'ambiguous' })
      expect(await observe(adapter, target!)).toEqual({ admin: 'draining', detail: `${address}: in, not loaded yet` })
      expect(await restore(adapter, target!, prior)).toEqual(APPLIED)
      expect(process.upstream()).toBe(before)

      await expect(drain(dying, [target!])).rejects.toMatchObject({ kind: 'ambiguous' })
      expect(await restore(adapter, target!, prior)).toEqual(APPLIED)
      expect(process.upstream()).toBe(before)
      await expect(restore(dying, target!, { state: 'draining', prior: [] })).rejects.toMatchObject({ kind: 'ambiguous' })
      expect(await restore(adapter, target!, prior)).toEqual(APPLIED)
      expect(process.upstream()).toBe(before)
    })
  })

  test('workers that another reload starts after the look stand in the way of the write', async () => {
    const { process } = await startWithPods(program)
    const host = createHost({ component: 'nginx edge' })
    const call = { deadlineMs: 20_000, assertLive: () => {}, signal: new AbortController().signal }
    const { output } = await host.run(workersScript(process.pidFile), call)
    const guard = noNewerWorkers(process.pidFile, Number(String(output).split(' ')[2]))
    expect((await host.run(guard, call)).status).toBe(0)
    await process.edit((text) => text)
    expect((await host.run(guard, call)).status).not.toBe(0)
  })

  test('a tool that writes the file as it was shows at once', async () => {
    const { process, pods } = await startWithPods(program)
    const adapter = create(optionsFor(process))
    const [target] = await targetsOf(adapter, [pods.endpoints[0]!])
    const own = process.upstream()
    await drain(adapter, [target!])
    await process.edit(() => own)
    expect((await observe(adapter, target!)).admin).toBe('in')
    expect(await drain(adapter, [target!])).toEqual([APPLIED])
  })

  test('a restored line loses its mark, also where the file is written at the moment of the reload', async () => {
    const { process, pods } = await startWithPods(program)
    const before = process.upstream()
    const meanwhile = ['sh', '-c', 'echo "# another line" >>"$0"; exec "$@"', process.upstreamFile]
    const adapter = create(optionsFor(process, { reload: [...meanwhile, ...process.command, '-s', 'reload'] }))
    const [target] = await targetsOf(adapter, [pods.endpoints[0]!])
    const prior = await priorOf(adapter, target!)
    expect(await drain(adapter, [target!])).toEqual([APPLIED])
    expect(await restore(adapter, target!, prior)).toEqual(APPLIED)
    expect(process.upstream()).toBe(`${before}${'# another line\n'.repeat(2)}`)
  })

  test('two processes on one file at once are both right, and the file is as it was', LONG, async () => {
    const { process, pods } = await startWithPods(program)
    const before = process.upstream()
    const options = JSON.stringify(optionsFor(process))
    const turns = pods.endpoints.slice(0, 2).map((endpoint) => {
      const args = [join(import.meta.dirname, 'testing/turns.ts'), options, JSON.stringify(endpoint), '5', process.front]
      return run(globalThis.process.execPath, args)
    })
    await Promise.all(turns)
    expect(process.upstream()).toBe(before)
  })

  test(
    'a process that is killed at any moment leaves what reads as it is, and what the next one brings to its end',
    LONG,
    async () => {
      const { process, pods } = await startWithPods(program)
      const traffic = createTraffic({ socketPath: process.front }, pods)
      const before = process.upstream()
      const options = optionsFor(process)
      const adapter = create(options)
      const endpoint = pods.endpoints[0]!
      const [target] = await targetsOf(adapter, [endpoint])
      const prior = await priorOf(adapter, target!)
      const reached = async (): Promise<boolean> => {
        const uids: string[] = []
        for (let sent = 0; sent < 12; sent += 1) uids.push(await traffic.request())
        return uids.includes(endpoint.uid)
      }
      const left: string[] = []
      for (let turn = 0; turn < 10; turn += 1) {
        const args = [
          join(import.meta.dirname, 'testing/turns.ts'),
          JSON.stringify(options),
          JSON.stringify(endpoint),
          '1000',
          process.front,
        ]
        const killed = spawn(globalThis.process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
        await once(killed.stdout, 'data')
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 700))
        killed.kill('SIGKILL')
        await once(killed, 'exit')
        // A script of the killed process continues for a moment.
        await expect
          .poll(async () => (await observe(adapter, target!)).admin === ((await reached()) ? 'in' : 'draining'), POLL)
          .toBe(true)
        left.push((await observe(adapter, target!)).detail!.replace(/^\S+ /, ''))
        await expect.poll(() => drain(adapter, [target!]).catch(() => undefined), POLL).toEqual([APPLIED])
        expect(await reached()).toBe(false)
        await expect.poll(() => restore(adapter, target!, prior).catch(() => undefined), POLL).toEqual(APPLIED)
        expect(await reached()).toBe(true)
        expect(process.upstream()).toBe(before)
      }
      expect(left.every((detail) => /^(in|down)(, not loaded yet)?$/.test(detail))).toBe(true)
    },
  )

  test('WebSockets live through ten reloads, those of the drained pod too', LONG, async () => {
    const pods = await startUpgradingPods(3)
    const process = await start(program, pods.endpoints)
    const adapter = create(optionsFor(process))
    const [target] = await targetsOf(adapter, [pods.endpoints[0]!])
    const prior = await priorOf(adapter, target!)
    // Each of the two workers balances independently.
    const sockets = await Promise.all(Array.from({ length: 12 }, () => openWebSocket(process.front)))
    expect(new Set(sockets.map(({ pod }) => pod))).toEqual(new Set(['web-0', 'web-1', 'web-2']))
    for (let turn = 0; turn < 5; turn += 1) {
      await drain(adapter, [target!])
      await restore(adapter, target!, prior)
    }
    expect(await Promise.all(sockets.map(({ echo }) => echo('still there')))).toEqual(sockets.map(() => 'still there'))
  })

  test('on two hosts: a pod is out when it is out on both, and a host that is away is named', async () => {
    const pods = await startPods(3)
    cleanUps.push(() => pods.close())
    const [first, second] = [await start(program, pods.endpoints), await start(program, pods.endpoints)]
    const at = '/srv/of-each-host'
    const moved = [program, ...first.command.slice(1).map((word) => word.replace(first.folder, at))]
    const hosts = [first, second].map(({ folder }, index) => ({ name: `lb${index + 1}`, prefix: prefixTo(folder, at) }))
    const files = { file: `${at}/upstreams/web.conf`, pidFile: `${at}/nginx.pid` }
    const adapter = create({ ...optionsFor(first), ...files, hosts, test: [...moved, '-t'], reload: [...moved, '-s', 'reload'] })
    const targets = await targetsOf(adapter, [pods.endpoints[0]!])
    const address = `127.0.0.1:${pods.endpoints[0]!.port}`
    expect(targets).toEqual(
      ['lb1', 'lb2'].map((host) => ({ id: `${host}/${address}@${address}`, scope: `${host}:${at}/upstreams/web.conf` })),
    )
    const before = first.upstream()
    const priors = await Promise.all(targets.map((target) => priorOf(adapter, target)))
    for (const target of targets) expect(await drain(adapter, [target])).toEqual([APPLIED])
    for (const process of [first, second]) {
      const traffic = createTraffic({ socketPath: process.front }, pods)
      const reached = new Set<string>()
      for (let sent = 0; sent < 12; sent += 1) reached.add(await traffic.request())
      expect(reached).toEqual(new Set(['uid-1', 'uid-2']))
    }
    for (const [index, target] of targets.entries()) expect(await restore(adapter, target, priors[index]!)).toEqual(APPLIED)
    expect([first.upstream(), second.upstream()]).toEqual([before, before])
    for (const target of targets) expect(await drain(adapter, [target])).toEqual([APPLIED])
    renameSync(second.upstreamFile, `${second.upstreamFile}.away`)
    expect(await restore(adapter, targets[0]!, priors[0]!)).toEqual(APPLIED)
    expect(first.upstream()).toBe(before)
    expect((await observe(adapter, targets[0]!)).admin).toBe('in')
    await expect(adapter.inspect(targets, callOf(targets))).rejects.toMatchObject({
      kind: 'retryable',
      message: expect.stringContaining(`there is no file ${at}/upstreams/web.conf on ${hosts[1]!.prefix.join(' ')}`),
    })
  })

  test('while another binary takes the place of nginx, nothing is drained and nothing put back; at its end both are', async () => {
    const { process: supervised, pods } = await startWithPods(program)
    const process = await startUnsupervised(supervised)
    const traffic = createTraffic({ socketPath: process.front }, pods)
    const adapter = create(optionsFor(process))
    const [target, drained] = await targetsOf(adapter, pods.endpoints.slice(0, 2))
    const prior = await priorOf(adapter, drained!)
    expect(await drain(adapter, [drained!])).toEqual([APPLIED])
    const before = process.upstream()
    const oldFile = `${process.pidFile}.oldbin`
    const master = (): number => Number(readFileSync(process.pidFile, 'utf8'))
    const old = master()
    globalThis.process.kill(old, 'SIGUSR2')
    await expect.poll(() => existsSync(oldFile) && existsSync(process.pidFile) && master() !== old, POLL).toBe(true)

    const refusal = {
      kind: 'retryable',
      message: expect.stringContaining(`nginx is being replaced by another binary: ${oldFile} on this host; end the upgrade`),
    }
    await expect(drain(adapter, [target!])).rejects.toMatchObject(refusal)
    await expect(restore(adapter, drained!, prior)).rejects.toMatchObject(refusal)
    await expect(observe(adapter, drained!)).rejects.toMatchObject(refusal)
    expect(process.upstream()).toBe(before)

    globalThis.process.kill(old, 'SIGQUIT')
    await expect.poll(() => existsSync(oldFile), POLL).toBe(false)
    expect(await drain(adapter, [target!])).toEqual([APPLIED])
    expect(await restore(adapter, drained!, prior)).toEqual(APPLIED)
    const reached: string[] = []
    for (let sent = 0; sent < 12; sent += 1) reached.push(await traffic.request())
    expect(new Set(reached)).toEqual(new Set(['uid-1', 'uid-2']))
  })

  test('a file of an old master that has ended, whose process id is that of another program, is no upgrade', async () => {
    const { process, pods } = await startWithPods(program)
    writeFileSync(`${process.pidFile}.oldbin`, `${globalThis.process.pid}\n`)
    const adapter = create(optionsFor(process))
    const [target] = await targetsOf(adapter, [pods.endpoints[0]!])
    expect(await drain(adapter, [target!])).toEqual([APPLIED])
  })

  test('an nginx that does not run, or has another pid file, is said', async () => {
    const { process, pods } = await startWithPods(program)
    const adapter = create(optionsFor(process, { pidFile: '/nowhere/nginx.pid' }))
    await expect(adapter.resolve(pods.endpoints, callOf([]))).rejects.toMatchObject({
      kind: 'retryable',
      message: expect.stringContaining(
        'there is no file /nowhere/nginx.pid on this host: nginx does not run, or pidFile is another one',
      ),
    })
    writeFileSync(join(process.folder, 'own.pid'), `${globalThis.process.pid}\n`)
    const ours = create(optionsFor(process, { pidFile: join(process.folder, 'own.pid') }))
    await expect(ours.resolve(pods.endpoints, callOf([]))).rejects.toThrow('no process is a worker of the nginx of')
    const elsewhere = create(optionsFor(process, { upstream: 'api' }))
    await expect(elsewhere.resolve(pods.endpoints, callOf([]))).rejects.toThrow('there is no upstream api: it has web')
  })
})

/** The same configuration in a second nginx without its parent. An nginx that still has its first parent ignores USR2. */
async function startUnsupervised(process: NginxProcess): Promise<NginxProcess> {
  const own = (text: string): string => text.replaceAll(/nginx\.(conf|pid)|front\.sock/g, (name) => `own-${name}`)
  const [pidFile, front] = [own(process.pidFile), own(process.front)]
  const configFile = join(process.folder, 'nginx.conf')
  writeFileSync(own(configFile), own(readFileSync(configFile, 'utf8')))
  const [program, ...args] = process.command
  // nginx starts the new binary from the path with which it was started.
  const command = [(await run('which', [program!])).stdout.trim(), ...args.map(own)]
  const untilServing = '"$@" & until [ -s "$0" ]; do sleep 0.01; done'
  const parent = spawn('sh', ['-c', untilServing, pidFile, ...command], { detached: true, stdio: 'ignore' })
  cleanUps.push(() => void globalThis.process.kill(-parent.pid!, 'SIGKILL'))
  await once(parent, 'exit')
  return { ...process, pidFile, front, command }
}

/** A prefix in place of ssh, to a host whose files are in this folder. */
function prefixTo(folder: string, at: string): string[] {
  return ['sh', '-c', 'from=$1 to=$2; shift 2; sed -u "s#$from#$to#g" | "$@"', 'ssh', at, folder]
}

async function startUpgradingPods(count: number): Promise<{ endpoints: Endpoint[] }> {
  const endpoints: Endpoint[] = []
  for (let index = 0; index < count; index += 1) {
    const pod = `web-${index}`
    const server: Server = createServer((_, response) => void response.end())
    const open = new Set<Socket>()
    server.on('upgrade', (_, socket: Socket) => {
      open.add(socket)
      socket.on('error', () => {})
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX-Pod: ${pod}\r\n\r\n`)
      socket.pipe(socket)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanUps.push(() => {
      server.close()
      for (const socket of open) socket.destroy()
    })
    endpoints.push({ uid: `uid-${index}`, pod, address: '127.0.0.1', port: (server.address() as AddressInfo).port })
  }
  return { endpoints }
}

interface OpenWebSocket {
  pod: string
  /** Sends a text and gives its echo, or the reason why the connection ended. */
  echo(text: string): Promise<string>
}

async function openWebSocket(socketPath: string): Promise<OpenWebSocket> {
  const sent = request({ socketPath, path: '/', headers: { connection: 'Upgrade', upgrade: 'websocket' } })
  sent.end()
  const [response, socket] = (await once(sent, 'upgrade')) as [{ headers: Record<string, string> }, Socket]
  cleanUps.push(() => void socket.destroy())
  const ended = once(socket, 'close').then(() => 'it was cut')
  return {
    pod: response.headers['x-pod']!,
    async echo(text) {
      const answer = once(socket, 'data').then(([data]) => String(data))
      socket.write(text)
      return Promise.race([answer, ended])
    },
  }
}
