import { access } from 'node:fs/promises'
import { EXIT, type ExitCode } from '../../library/exit-codes.ts'
import { parseSubject } from '../../library/request/subject.ts'
import type { Explanation } from '../../explain/explanation.ts'
import type { Config } from '../../config/config.ts'
import type { ExplainFlags } from '../arguments/flags.ts'
import { parseRequestTimeout } from '../arguments/request-timeout.ts'
import { UsageError } from '../arguments/usage-error.ts'
import type { CommandContext } from '../commands/context.ts'
import { writingFor } from '../printed-commands/writing.ts'
import { createColors, useColor } from '../output/color.ts'
import { formatElapsed } from '../output/elapsed.ts'
import { inert, inertJson } from '../output/inert.ts'
import { explainDocument, explainLines } from '../output/explain-view.ts'
import { withCluster } from './with-cluster.ts'

const CODES: Record<Explanation['verdict'], ExitCode> = { right: EXIT.done, wrong: EXIT.failed, unknown: EXIT.preflight }

export async function explainAction(
  argument: string,
  flags: ExplainFlags,
  { terminal, invocation }: CommandContext,
): Promise<ExitCode> {
  const requestTimeoutMs = parseArguments(argument, flags)
  const config = await readConfigIfAny(flags.config, terminal.env)
  const explanation = await withCluster(flags, requestTimeoutMs, terminal, async (cluster) => {
    const { sluiceOf } = await import('../world.ts')
    const sluice = sluiceOf(cluster, terminal, config)
    try {
      return await sluice.explain(
        { object: argument },
        {
          onWatching: ({ nodes, forMs }) => terminal.err.write(`watching ${leasesOf(nodes)} for up to ${formatElapsed(forMs)}\n`),
        },
      )
    } finally {
      await sluice.close()
    }
  })
  const write = writingFor({ flags, invocation }, terminal.env)
  if (flags.output === 'json') terminal.out.write(`${inertJson(explainDocument(explanation, write), 2)}\n`)
  else {
    const colors = createColors(useColor(flags.color, terminal.env, terminal.out.isTerminal))
    for (const line of explainLines(explanation, colors, write)) terminal.out.write(`${line}\n`)
  }
  return CODES[explanation.verdict]
}

/** Throws a UsageError that lists all problems. */
function parseArguments(argument: string, flags: ExplainFlags): number | undefined {
  const problems: string[] = []
  const subject = parseSubject(argument)
  if (!subject.ok) problems.push(subject.problem)
  const requestTimeoutMs = parseRequestTimeout(flags.requestTimeout, problems)
  if (problems.length > 0) throw new UsageError(problems)
  return requestTimeoutMs
}

/** Reads the config if there is one. A file that a flag names must exist; without a config, load balancers are left out. */
async function readConfigIfAny(flag: string | undefined, env: NodeJS.ProcessEnv): Promise<Config | undefined> {
  const { configPath, readConfig } = await import('../world.ts')
  const file = configPath(flag, env)
  const isNamed = flag !== undefined || Boolean(env['SLUICE_CONFIG'])
  const isThere = await access(file).then(
    () => true,
    () => false,
  )
  return isNamed || isThere ? readConfig(file) : undefined
}

function leasesOf(nodes: readonly string[]): string {
  const [only, ...more] = nodes
  return more.length === 0 ? `the Lease of node ${inert(only ?? '')}` : `the Leases of ${nodes.length} nodes`
}
