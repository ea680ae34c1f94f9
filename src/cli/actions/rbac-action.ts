import type { RightsFor } from '../../engine/rights.ts'
import type { RbacFlags } from '../arguments/flags.ts'
import { KINDS } from '../../workloads/kinds/index.ts'
import { quote } from '../../library/request/quote.ts'
import { parseRef } from '../../library/request/selection.ts'
import { UsageError } from '../arguments/usage-error.ts'
import type { CommandContext } from '../commands/context.ts'
import { EXIT, type ExitCode } from '../../library/exit-codes.ts'
import { rbacManifest, type RbacSubject } from '../output/rbac-manifest.ts'

const OWN_ACCOUNT = 'sluice'
const ACCOUNT = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/

export async function rbacAction(args: readonly string[], flags: RbacFlags, { terminal }: CommandContext): Promise<ExitCode> {
  const problems: string[] = []
  const workloads = args.flatMap((argument): RightsFor[] => {
    const kind = KINDS.kindNamed(argument)
    if (kind !== undefined) return [{ kind }]
    const parsed = parseRef(argument)
    if (parsed.ok) return [{ kind: parsed.kind, name: parsed.ref.name }]
    problems.push(parsed.problem)
    return []
  })
  const subject = subjectOf(flags, problems)
  if (problems.length > 0) throw new UsageError(problems)
  const loadBalancers = await named(flags.config)
  const { namespace, orders = false } = flags
  terminal.out.write(rbacManifest({ workloads, namespace, subject, orders, loadBalancers }))
  return EXIT.done
}

function subjectOf({ namespace, serviceAccount = OWN_ACCOUNT, user }: RbacFlags, problems: string[]): RbacSubject {
  if (user !== undefined) return { kind: 'User', name: user }
  const parts = serviceAccount.split(':')
  const [name = '', home = namespace] = parts.toReversed()
  if (parts.length > 2 || ![name, home].every((part) => ACCOUNT.test(part)))
    problems.push(`--service-account: ${quote(serviceAccount)} is no ServiceAccount: write NAME or NAMESPACE:NAME`)
  return { kind: 'ServiceAccount', name, namespace: home }
}

async function named(file: string | undefined): Promise<string[]> {
  if (file === undefined) return []
  const { loadConfig } = await import('../../config/load-config.ts')
  const { loadBalancers } = await loadConfig(file)
  return loadBalancers.map(({ name, adapter }) => `${name} (${adapter})`)
}
