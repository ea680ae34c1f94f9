import { type Before, type Left, LiveError, type LiveLoadBalancer, openLive } from '../../../adapters/conformance/beds/live.ts'
import type { MakePartialBed } from '../../../adapters/conformance/bed.ts'
import { guaranteeShown, type TestedPromise, testPromises } from '../../../adapters/conformance/test-run.ts'
import { formatAddress, parseAddress } from '../../../adapters/address.ts'
import { type Adapter, AdapterError, type Address } from '../../../adapters/contract.ts'
import type { Config, ConfiguredLoadBalancer } from '../../config/config.ts'
import { loadConfig } from '../../config/load-config.ts'
import { EXIT, type ExitCode } from '../../library/exit-codes.ts'
import { quote } from '../../library/request/quote.ts'
import { originsIn, withOrigin } from '../adapter-test/options-url.ts'
import { loadBed } from '../adapter-test/started-bed.ts'
import { withMeasuredDeadline } from '../adapter-test/measured-deadline.ts'
import type { TestAdapterFlags } from '../arguments/flags.ts'
import { UsageError } from '../arguments/usage-error.ts'
import type { CommandContext } from '../commands/context.ts'
import { failureOf } from '../failures.ts'
import {
  type AdapterTestReport,
  countsOf,
  countsText,
  guaranteeText,
  leftTarget,
  leftText,
  promiseText,
} from '../output/adapter-test-view.ts'
import { API_VERSION } from '../output/api-version.ts'
import { inert, inertJson } from '../output/inert.ts'
import { reportFailure } from '../report-failure.ts'
import { codeOf, type Interrupts, watchInterrupts } from '../run/interrupts.ts'
import type { Terminal } from '../terminal.ts'
import { configPath } from '../world.ts'

/** The subject of the test. `live` is present where the test drains real servers. */
interface Subject {
  on: AdapterTestReport['on']
  makeBed: MakePartialBed
  live?: LiveLoadBalancer
}

export async function testAction(flags: TestAdapterFlags, { terminal }: CommandContext): Promise<ExitCode> {
  assertTogether(flags)
  const config = await loadConfig(configPath(flags.config, terminal.env))
  const balancer = chosen(config, flags.loadBalancer)
  assertAlone(flags, balancer)
  const stopping = new AbortController()
  const subject = await subjectOf(flags, config, balancer, stopping.signal).catch((error: unknown) => unreadable(error, terminal))
  if (subject === undefined) return EXIT.failed
  const interrupts = watch(terminal, stopping, subject.live?.before ?? [])
  try {
    return await run(subject, balancer, flags, { terminal, interrupts, stopping: stopping.signal })
  } finally {
    interrupts.dispose()
  }
}

function assertTogether({ bed, target = [], expendable = [], breakConnections }: TestAdapterFlags): void {
  const isLive = target.length + expendable.length > 0 || breakConnections === true
  if (bed !== undefined && isLive)
    throw new UsageError([
      '--bed starts a load balancer for the test: --target, --expendable and --break-connections are for one that runs',
    ])
  if (breakConnections === true && expendable.length === 0)
    throw new UsageError(['--break-connections breaks those of a drain: name with --expendable what may be drained'])
}

/** The kit makes calls that get no answer on purpose, and each would keep a Lease for its whole duration. */
function assertAlone({ expendable = [], withoutLock }: TestAdapterFlags, { name, lock }: ConfiguredLoadBalancer): void {
  if (lock === undefined || expendable.length === 0 || withoutLock === true) return
  throw new UsageError([
    `${name} has a lock, which the test does not take: see that nobody else writes ${lock.document} meanwhile, and add --without-lock`,
  ])
}

function chosen({ loadBalancers, file }: Config, name: string | undefined): ConfiguredLoadBalancer {
  const names = loadBalancers.map((one) => one.name).join(', ')
  if (name === undefined && loadBalancers.length > 1)
    throw new UsageError([`${file} has several load balancers (${names}): name one with --load-balancer`])
  const found = name === undefined ? loadBalancers[0] : loadBalancers.find((one) => one.name === name)
  if (found !== undefined) return found
  throw new UsageError([
    name === undefined ? `${file} has no load balancer` : `${file} has no load balancer ${quote(name)}; it has: ${names}`,
  ])
}

async function subjectOf(
  flags: TestAdapterFlags,
  { folder }: Config,
  { name, definition, options }: ConfiguredLoadBalancer,
  stopping: AbortSignal,
): Promise<Subject> {
  const origins = originsIn(options)
  function create(apiUrl?: string): Adapter {
    const own = apiUrl === undefined ? options : withOrigin(options, origins[0]!, apiUrl)
    return definition.create(own, { name, folder })
  }
  if (flags.bed !== undefined) {
    assertOne(origins, name, '--bed puts that of the bed in its place')
    return { on: 'bed', makeBed: await withMeasuredDeadline(await loadBed(flags.bed, create)) }
  }
  if (flags.breakConnections === true) {
    assertOne(origins, name, '--break-connections puts a proxy before it')
    if (!origins[0]!.startsWith('http:'))
      throw new UsageError([`--break-connections: ${origins[0]} is no plain HTTP, which a proxy could pass on`])
  }
  const [targets, expendable] = [addresses('--target', flags.target), addresses('--expendable', flags.expendable)]
  const isExpendable = (address: Address): boolean => expendable.some((one) => formatAddress(one) === formatAddress(address))
  const live = await openLive({
    targets: targets.filter((one) => !isExpendable(one)),
    expendable,
    create,
    ...(flags.breakConnections === true ? { breakable: origins[0]! } : {}),
    stopping,
  })
  return { on: 'live', live, makeBed: await withMeasuredDeadline(live.makeBed) }
}

function assertOne(origins: readonly string[], name: string, why: string): void {
  if (origins.length === 1) return
  const has = origins.length === 0 ? 'no URL' : `several URLs (${origins.join(', ')})`
  throw new UsageError([`the options of ${name} have ${has}: ${why}, and needs one`])
}

function addresses(flag: string, texts: readonly string[] = []): Address[] {
  const parsed = texts.map((text) => ({ text, address: parseAddress(text) }))
  const wrong = parsed.filter(({ address }) => address === undefined)
  if (wrong.length > 0)
    throw new UsageError(wrong.map(({ text }) => `${flag}: ${quote(text)} is no ADDRESS:PORT, such as 10.0.0.1:8080`))
  return [...new Map(parsed.map(({ address }) => [formatAddress(address!), address!])).values()]
}

/** An adapter that cannot read its load balancer has failed its test. */
function unreadable(error: unknown, { err }: Terminal): undefined {
  if (error instanceof LiveError) throw new UsageError([error.message])
  if (!(error instanceof AdapterError)) throw error
  err.write(`error: the load balancer cannot be read: ${inert(error.message)}\n`)
}

function watch(terminal: Terminal, stopping: AbortController, before: readonly Before[]): Interrupts {
  const interrupts = watchInterrupts({
    events: terminal.events,
    now: () => terminal.clock.now(),
    exit: (code) => {
      // No later code restores the targets that are drained now.
      const left = before.map((one) => ({ ...one, message: 'the test was ended before it was put back' }))
      terminal.err.write(leftText(left.map(leftTarget)))
      terminal.exit(code)
    },
  })
  interrupts.stopInOrder((cause) => {
    if ('bug' in cause) reportFailure(failureOf(cause.bug, { touched: false }), { verbose: true }, terminal)
    else
      terminal.err.write(
        `${cause.signal}: ends the call under way${before.length > 0 ? ', and puts back what is drained' : ''}\n`,
      )
    stopping.abort()
  })
  return interrupts
}

class Interrupted extends Error {}
class NotPutBack extends Error {
  readonly left: Left[]
  constructor(left: Left[]) {
    super()
    this.left = left
  }
}

interface Run {
  terminal: Terminal
  interrupts: Interrupts
  stopping: AbortSignal
}

async function run(
  { on, makeBed, live }: Subject,
  { name, adapter, definition, options }: ConfiguredLoadBalancer,
  flags: TestAdapterFlags,
  { terminal: { out, err }, interrupts, stopping }: Run,
): Promise<ExitCode> {
  const isText = flags.output === 'text'
  const promises: TestedPromise[] = []
  if (isText) out.write(`${inert(`${name} (${adapter})`)}${flags.bed === undefined ? '' : inert(` on ${flags.bed}`)}\n\n`)
  let unrepaired: Left[] | undefined
  try {
    await testPromises(makeBed, {
      async afterCase({ outcome }) {
        if (stopping.aborted) throw new Interrupted()
        // Each case starts from the state before the test.
        const some = live === undefined || outcome === 'not-applicable' ? [] : await live.putBack()
        if (some.length > 0) throw new NotPutBack(some)
      },
      onPromise(promise) {
        promises.push(promise)
        if (isText) out.write(promiseText(promise))
      },
    })
  } catch (error) {
    if (error instanceof NotPutBack) unrepaired = error.left
    else if (!(error instanceof Interrupted)) throw error
  }
  const left = (unrepaired ?? (await live?.putBack()) ?? []).map(leftTarget)
  const counts = countsOf(promises)
  const claimed = definition.create(options, { name }).capabilities.guarantee
  const guarantee = guaranteeShown(claimed, promises)
  const { cause } = interrupts
  if (isText) out.write(`\n${guaranteeText(guarantee, counts)}${countsText(counts)}`)
  else {
    const interrupted = cause === undefined ? {} : { interrupted: true }
    const report: AdapterTestReport = {
      apiVersion: API_VERSION,
      kind: 'AdapterTest',
      loadBalancer: name,
      adapter,
      on,
      promises,
      guarantee,
      counts,
      ...interrupted,
      left,
    }
    out.write(`${inertJson(report, 2)}\n`)
  }
  err.write(leftText(left))
  if (left.length > 0) return EXIT.needsOperator
  if (cause !== undefined) return codeOf(cause)
  return counts.fails > 0 ? EXIT.failed : EXIT.done
}
