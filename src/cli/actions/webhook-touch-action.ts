import { EXIT, exitCodeOfSignal, type ExitCode } from '../../library/exit-codes.ts'
import { systemRandom } from '../../ports/system.ts'
import { touchSummaryWords, touchWords } from '../../report/words/webhook.ts'
import { decide } from '../../webhook/decide/decide.ts'
import type { RuleSet } from '../../webhook/rules/rule-set.ts'
import type { TouchWebhookFlags } from '../arguments/flags.ts'
import { parseRequestTimeout } from '../arguments/request-timeout.ts'
import { UsageError } from '../arguments/usage-error.ts'
import type { CommandContext } from '../commands/context.ts'
import { failureOf } from '../failures.ts'
import { API_VERSION } from '../output/api-version.ts'
import { inert, inertJson } from '../output/inert.ts'
import { reportFailure } from '../report-failure.ts'
import { watchInterrupts } from '../run/interrupts.ts'
import { readRules } from './webhook-rules-actions.ts'

const HIGHEST_RATE = 1_000
/** Without rules, the controllers of Kubernetes alone say what an object is to be. */
const NO_RULES: RuleSet = { version: '', mode: 'enforce', rules: [] }

/** Has objects rewritten that are stored otherwise than the rules want them. Exits like a diff with `--dry-run`. */
export async function touchWebhookAction(flags: TouchWebhookFlags, { terminal }: CommandContext): Promise<ExitCode> {
  const problems: string[] = []
  const requestTimeoutMs = parseRequestTimeout(flags.requestTimeout, problems)
  const rate = Number(flags.rate)
  if (!(rate > 0 && rate <= HIGHEST_RATE))
    problems.push(`--rate ${flags.rate}: write a number of writes a second up to ${HIGHEST_RATE}`)
  if ((flags.rules === undefined) === (flags.all !== true)) problems.push('give either --rules RULES or --all')
  if (problems.length > 0) throw new UsageError(problems)
  const rules = flags.rules === undefined ? NO_RULES : await readRules(flags.rules)

  const stopping = new AbortController()
  const interrupts = watchInterrupts({
    events: terminal.events,
    now: () => terminal.clock.now(),
    exit: (code) => terminal.exit(code),
  })
  interrupts.stopInOrder((cause) => {
    if ('bug' in cause) reportFailure(failureOf(cause.bug, { touched: true }), { verbose: true }, terminal)
    stopping.abort()
  })
  const { namespace: namespaces, ...clusterFlags } = flags
  const { openCluster } = await import('../world.ts')
  const { openClusterView } = await import('../../webhook/cluster/open-cluster-view.ts')
  const { makeTouches, planTouches } = await import('../../webhook/touch/touch-once.ts')
  const cluster = await openCluster(clusterFlags, requestTimeoutMs, terminal)
  const looking = new AbortController()
  stopping.signal.addEventListener('abort', () => looking.abort())
  try {
    const { client } = cluster
    const { clock } = terminal
    const view = openClusterView({ client, clock, random: systemRandom, namespaces, signal: looking.signal })
    await view.settled
    const unread = view.states().filter(({ kind, isListed }) => !isListed && kind !== 'nodes' && kind !== 'endpoints')
    for (const { kind, namespace, because } of unread)
      terminal.err.write(`${inert(`${kind} of ${namespace}: ${because?.message ?? ''}`)}\n`)
    if (unread.length > 0) return interrupts.cause === undefined ? EXIT.preflight : interrupted()
    const knowsNodes = view.states().some(({ kind, isListed }) => kind === 'nodes' && isListed)
    const takesAll = flags.all === true
    const plan = planTouches({ view, rules, decide, nowAt: clock.wallNow(), knowsNodes, takesAll })
    looking.abort()
    const told = plan.touches.map(({ kind, namespace, name, service, way, wrong }) => ({
      kind,
      namespace,
      name,
      service,
      way,
      wrong,
    }))
    const isDryRun = flags.dryRun === true
    let failed = 0
    let done = 0
    if (!isDryRun) {
      failed = await makeTouches(plan, {
        client,
        clock,
        rate,
        signal: stopping.signal,
        onTouched(one, error) {
          done += 1
          terminal.err.write(`${inert(touchWords(one, { done, of: told.length, failure: error?.message }))}\n`)
        },
      })
    } else if (flags.output === 'text') for (const one of told) terminal.out.write(`${inert(touchWords(one))}\n`)
    const summary = { objects: plan.objects, touches: told.length, done, failed, unjudged: plan.unjudged, isDryRun }
    if (flags.output === 'json')
      terminal.out.write(`${inertJson({ apiVersion: API_VERSION, kind: 'EndpointTouches', ...summary, objectsToTouch: told })}\n`)
    else terminal.out.write(`${inert(touchSummaryWords(summary))}\n`)
    if (stopping.signal.aborted) return interrupted()
    return failed > 0 || (isDryRun && told.length > 0) ? EXIT.failed : EXIT.done
  } finally {
    looking.abort()
    interrupts.dispose()
    await cluster.close()
  }

  function interrupted(): ExitCode {
    const { cause } = interrupts
    return cause !== undefined && 'signal' in cause ? exitCodeOfSignal(cause.signal) : EXIT.failed
  }
}
