import { spawnSync } from 'node:child_process'
import { describe, expect, test, type TestContext } from 'vitest'
import { sendTo, startRecordingProxy } from '../../adapters/presets/testing/recording-proxy.ts'
import { findProduct } from '../products/find-product.ts'
import { describeOn } from '../products/program.ts'
import { type Balancer, onceEach } from './balancers/balancer.ts'
import { startCaddyBalancer } from './balancers/caddy.ts'
import { startEnvoyBalancer, startTraefikBalancer } from './balancers/files.ts'
import { startNginxBalancer } from './balancers/nginx.ts'
import { PLUGIN, startProgramBalancer } from './balancers/program.ts'
import { holdProgram } from './held-program.ts'
import { expectDone, type ProductBed, startProductBed } from './product-bed.ts'

/*
 * A process is stopped between its read and its write. After its Lease has run out, another process takes over and upgrades all pods. Then
 * the write of the first process arrives, and the first process continues.
 */

const [nginx, caddy, envoy, traefik] = await Promise.all(
  (['nginx', 'caddy', 'envoy', 'traefik'] as const).map((name) => findProduct(name)),
)
const LONG_MS = 150_000
/** A line that is in every script of a write, and in no other script (adapters/document). */
const RENAME = 'mv -f -- "$new" "$file"'
/** The lines of such a script that compare the file, and its guard. */
const COMPARES = / \|\| exit 3[12]$/

type AtEnd = Pick<TestContext, 'onTestFinished'>

async function start({ onTestFinished }: AtEnd): Promise<ProductBed> {
  const bed = await startProductBed({ web: 2 })
  onTestFinished(() => bed.stop())
  return bed
}

async function balancing<Started extends Balancer>({ onTestFinished }: AtEnd, starting: Promise<Started>): Promise<Started> {
  const balancer = await starting
  onTestFinished(() => balancer.stop())
  return balancer
}

interface Stopped {
  first: readonly object[]
  /** The load balancers of the process that takes over, where they differ. */
  other?: readonly object[]
  /** Resolves when the write of the first process is held. */
  held(): Promise<unknown>
  /** Returns the settings of all balancers. */
  settings(): Promise<unknown>
  /** Lets the write arrive. It is called when the other process is done. */
  arrives(): Promise<void>
}

async function stopBetween(bed: ProductBed, { first, other = first, held, settings, arrives }: Stopped): Promise<void> {
  const image = bed.nextImage()
  const before = await settings()
  const stopped = bed.upgrade({ config: await bed.configure(first, 'first.yaml'), image })
  await held()
  stopped.child.kill('SIGSTOP')
  await expectDone(bed.upgrade({ config: await bed.configure(other, 'other.yaml'), image }))
  expect(await settings()).toEqual(before)
  await arrives()
  expect(await settings()).toEqual(before)
  stopped.child.kill('SIGCONT')
  const { code, said } = await stopped.ended
  // The first process has lost its Lease.
  expect(code, said).toBe(7)
  expect(await settings()).toEqual(before)
  expect(bed.images()).toEqual(bed.names().map(() => image))
}

function onIntent({ cluster }: ProductBed, then: () => void): () => void {
  return cluster.apiServer.store.subscribe((resource, { after }) => {
    if (resource === 'pods' && JSON.stringify(after).includes(String.raw`\"step\":\"drain\"`)) then()
  })
}

/** Runs the script without its comparison, as a negative control. */
function runWithoutComparing(script: string): void {
  const lines = script.split('\n')
  const blind = lines.filter((line) => !COMPARES.test(line))
  expect(lines.length - blind.length).toBeGreaterThanOrEqual(2)
  expect(spawnSync('sh', { input: blind.join('\n'), encoding: 'utf8' }).stdout).toMatch(/ 0\n$/)
}

describe.concurrent('stopped between read and write, past its Lease', () => {
  describeOn(nginx!, (program) => {
    test(
      'nginx: its file is not written',
      async (context) => {
        const bed = await start(context)
        const balancer = await balancing(context, startNginxBalancer(bed, program, ['web']))
        const script = holdProgram(bed.folder, 'script', RENAME)
        script.arm()
        const before = await balancer.settings()
        await stopBetween(bed, {
          first: balancer.behind(script.prefix),
          held: script.held,
          settings: balancer.settings,
          // The file has changed by now: status 31 of adapters/document.
          arrives: async () => expect(await script.letGo()).toMatch(/ 3[12]\n$/),
        })
        expect(balancer.history()).toEqual(onceEach(bed.names()))
        runWithoutComparing(script.input())
        expect(await balancer.settings()).not.toEqual(before)
      },
      LONG_MS,
    )
  })

  const both = { ...envoy!, title: `${envoy!.title} and ${traefik!.title}` }
  describeOn(traefik!.program === undefined ? { ...both, program: undefined } : both, (program) => {
    test(
      'Envoy and Traefik: their files are not written',
      async (context) => {
        const bed = await start(context)
        const balancers = [
          await balancing(context, startEnvoyBalancer(bed, program)),
          await balancing(context, startTraefikBalancer(bed, traefik!.program!)),
        ]
        const settings = () => Promise.all(balancers.map((balancer) => balancer.settings()))
        const before = await settings()
        const held = balancers.map((balancer, index) => ({ balancer, script: holdProgram(bed.folder, 'script', RENAME, index) }))
        for (const { script } of held) script.arm()
        await stopBetween(bed, {
          first: held.flatMap(({ balancer, script }) => balancer.behind(script.prefix)),
          held: () => Promise.all(held.map(({ script }) => script.held())),
          settings,
          async arrives() {
            for (const { script } of held) expect(await script.letGo()).toMatch(/ 31\n$/)
          },
        })
        for (const balancer of balancers) expect(balancer.history()).toEqual(onceEach(bed.names()))
        for (const { script } of held) runWithoutComparing(script.input())
        for (const [index, text] of (await settings()).entries()) expect(text).not.toEqual(before[index])
      },
      LONG_MS,
    )
  })

  describeOn(caddy!, (program) => {
    test(
      'Caddy: a change that is on its way is refused',
      async (context) => {
        const bed = await start(context)
        const balancer = await balancing(context, startCaddyBalancer(bed, program))
        const before = await balancer.settings()
        const proxy = await startRecordingProxy(balancer.caddy.adminUrl)
        context.onTestFinished(() => proxy.close())
        const { promise: held, resolve: isHeld } = Promise.withResolvers<void>()
        const { promise: go, resolve: letGo } = Promise.withResolvers<void>()
        const { promise: answered, resolve: isAnswered } = Promise.withResolvers<void>()
        proxy.onWrite = () => {
          isHeld()
          return go
        }
        proxy.onDone = () => isAnswered()
        await stopBetween(bed, {
          first: balancer.at(proxy.url),
          other: balancer.loadBalancers,
          held: () => held,
          settings: balancer.settings,
          async arrives() {
            letGo()
            await answered
          },
        })
        expect(proxy.writes.map(({ status }) => status)).toEqual([412])
        expect(balancer.history()).toEqual(onceEach(bed.names()))
        const { 'if-match': _version, ...headers } = proxy.writes[0]!.headers
        expect((await sendTo(balancer.caddy.adminUrl, { ...proxy.writes[0]!, headers })).status).toBe(200)
        expect(await balancer.settings()).not.toEqual(before)
      },
      LONG_MS,
    )

    test(
      'Caddy: no change is sent once its read is answered',
      async (context) => {
        const bed = await start(context)
        const balancer = await balancing(context, startCaddyBalancer(bed, program))
        const proxy = await startRecordingProxy(balancer.caddy.adminUrl)
        context.onTestFinished(() => proxy.close())
        const { promise: held, resolve: isHeld } = Promise.withResolvers<void>()
        const { promise: go, resolve: letGo } = Promise.withResolvers<void>()
        const holdReads = () => {
          proxy.onRead = () => {
            isHeld()
            return go
          }
        }
        context.onTestFinished(onIntent(bed, holdReads))
        await stopBetween(bed, {
          first: balancer.at(proxy.url),
          other: balancer.loadBalancers,
          held: () => held,
          settings: balancer.settings,
          arrives: () => Promise.resolve(letGo()),
        })
        expect(proxy.writes).toEqual([])
        expect(balancer.history()).toEqual(onceEach(bed.names()))
      },
      LONG_MS,
    )
  })

  test(
    'a program, which names no version: it ends with its call, and none is started after it',
    async (context) => {
      const bed = await start(context)
      const balancer = await balancing(context, startProgramBalancer(bed))
      const list = holdProgram(bed.folder, 'answer', '"call":"list"')
      context.onTestFinished(onIntent(bed, list.arm))
      await stopBetween(bed, {
        first: balancer.by([...list.prefix, process.execPath, PLUGIN]),
        held: list.held,
        settings: balancer.settings,
        // The program had the list, and was ended before it could answer.
        arrives: async () => {
          expect(list.hasEnded()).toBe(true)
          expect(await list.letGo()).toContain('"entries"')
        },
      })
      expect(balancer.history()).toEqual(onceEach(bed.names()))
    },
    LONG_MS,
  )

  test(
    'the same list, held while nobody takes over: its drain follows (negative control)',
    async (context) => {
      const bed = await start(context)
      const balancer = await balancing(context, startProgramBalancer(bed))
      const list = holdProgram(bed.folder, 'answer', '"call":"list"')
      context.onTestFinished(onIntent(bed, list.arm))
      const config = await bed.configure(balancer.by([...list.prefix, process.execPath, PLUGIN]))
      const upgrade = bed.upgrade({ config, image: bed.nextImage() })
      await list.held()
      upgrade.child.kill('SIGSTOP')
      await list.letGo()
      expect(balancer.history()).toEqual({ 'web-0': [false], 'web-1': [false] })
      upgrade.child.kill('SIGCONT')
      await expectDone(upgrade)
      expect(balancer.history()).toEqual(onceEach(bed.names()))
    },
    LONG_MS,
  )
})
