import { reasonOf } from '../../engine/errors.ts'
import { worded } from '../../report/words/document.ts'
import { writingFor } from '../printed-commands/writing.ts'
import { systemRandom } from '../../ports/system.ts'
import type { CommandContext } from '../commands/context.ts'
import { EXIT, type ExitCode } from '../../library/exit-codes.ts'
import type { ResolveFlags } from '../arguments/flags.ts'
import { inert, inertJson } from '../output/inert.ts'
import { API_VERSION } from '../output/api-version.ts'
import { leaseWaiting } from '../../report/words/events.ts'
import { processIdentity } from '../../library/process-identity.ts'
import { quote } from '../../library/request/quote.ts'
import { parseRequestTimeout } from '../arguments/request-timeout.ts'
import { parseRef } from '../../library/request/selection.ts'
import { UsageError } from '../arguments/usage-error.ts'
import { isPod } from '../../workloads/kinds/pod.ts'
import { withCluster } from './with-cluster.ts'

export async function resolveAction(
  argument: string,
  flags: ResolveFlags,
  { terminal, invocation }: CommandContext,
): Promise<ExitCode> {
  const problems: string[] = []
  const pod = podName(argument, problems)
  const requestTimeoutMs = parseRequestTimeout(flags.requestTimeout, problems)
  if (problems.length > 0) throw new UsageError(problems)
  const { resolvePod } = await import('../../engine/resolving/resolve.ts')
  return withCluster(flags, requestTimeoutMs, terminal, async ({ client, namespace }) => {
    const { clock, err, out } = terminal
    let told: string | undefined
    const of = flags.gone ? 'gone' : flags.live ? 'live' : undefined
    const write = writingFor({ flags, invocation }, terminal.env)
    const { done } = await resolvePod(
      { namespace, pod, traffic: flags.traffic, loadBalancers: flags.loadBalancer ?? [], ...(of ? { of } : {}) },
      {
        client,
        clock,
        random: systemRandom,
        identity: processIdentity(),
        signal: new AbortController().signal,
        onWaiting(lease, holder, remainingMs) {
          if (told !== holder) err.write(`${leaseWaiting({ lease, holder, remainingMs })}\n`)
          told = holder
        },
        onTrouble: (error) => err.write(`${inert(write.reason(reasonOf(error)))}\n`),
      },
    )
    const report = { apiVersion: API_VERSION, kind: 'ResolveReport', namespace, pod, traffic: flags.traffic, done }
    if (flags.output === 'json') out.write(`${inertJson(worded(report, write), 2)}\n`)
    else for (const reason of done) out.write(`${inert(write.reason(reason))}\n`)
    return EXIT.done
  })
}

function podName(argument: string, problems: string[]): string {
  const parsed = parseRef(argument.includes('/') ? argument : `pod/${argument}`)
  if (!parsed.ok) problems.push(parsed.problem)
  else if (isPod(parsed.ref)) return parsed.ref.name
  else problems.push(`${quote(argument)} is no pod: name the one that needs an operator`)
  return ''
}
