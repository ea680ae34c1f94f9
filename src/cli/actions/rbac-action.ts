import { documentLease } from '../../engine/locks/document-lease.ts'
import type { RightsFor } from '../../engine/rights.ts'
import type { RbacFlags } from '../arguments/flags.ts'
import { KINDS } from '../../workloads/kinds/index.ts'
import { quote } from '../../library/request/quote.ts'
import { parseRef } from '../../library/request/selection.ts'
import { UsageError } from '../arguments/usage-error.ts'
import type { CommandContext } from '../commands/context.ts'
import { SYNC_NAMES } from '../../sync/rights.ts'
import { WEBHOOK_NAMES } from '../../webhook/rights.ts'
import { EXIT, type ExitCode } from '../../library/exit-codes.ts'
import { rbacManifest, type RbacLock, type RbacSubject } from '../output/rbac-manifest.ts'

const OWN_ACCOUNT = 'sluice'
/** A program that runs in the cluster has a namespace of its own, as deploy/ has it. */
const DEPLOYED = [
  { purposes: ['webhook'], ...WEBHOOK_NAMES },
  { purposes: ['sync', 'sync-source'], ...SYNC_NAMES },
]
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
  const { namespace, orders = false, for: purposes = ['upgrade'] } = flags
  if (orders && !purposes.includes('upgrade')) problems.push('--orders goes with the rights of a run: add upgrade to --for')
  if (problems.length > 0) throw new UsageError(problems)
  const configured = await loadBalancersOf(flags.config)
  terminal.out.write(rbacManifest({ workloads, namespace, subject, purposes, orders, ...configured }))
  return EXIT.done
}

function subjectOf(flags: RbacFlags, problems: string[]): RbacSubject {
  const { namespace, user, serviceAccount = usualAccount(flags) } = flags
  if (user !== undefined) return { kind: 'User', name: user }
  const parts = serviceAccount.split(':')
  const [name = '', home = namespace] = parts.toReversed()
  if (parts.length > 2 || ![name, home].every((part) => ACCOUNT.test(part)))
    problems.push(`--service-account: ${quote(serviceAccount)} is no ServiceAccount: write NAME or NAMESPACE:NAME`)
  if (home === namespace && flags.for?.includes('webhook') === true)
    problems.push(
      `--namespace: the webhook never acts in its own namespace, ${quote(home)}: name a namespace whose endpoints it decides about`,
    )
  return { kind: 'ServiceAccount', name, namespace: home }
}

function usualAccount({ for: purposes = [] }: RbacFlags): string {
  const program = DEPLOYED.find((one) => purposes.length > 0 && purposes.every((purpose) => one.purposes.includes(purpose)))
  return program === undefined ? OWN_ACCOUNT : `${program.namespace}:${program.account}`
}

async function loadBalancersOf(file: string | undefined): Promise<{ loadBalancers: string[]; locks: RbacLock[] }> {
  if (file === undefined) return { loadBalancers: [], locks: [] }
  const { loadConfig } = await import('../../config/load-config.ts')
  const { loadBalancers } = await loadConfig(file)
  return {
    loadBalancers: loadBalancers.flatMap(({ name, adapter, lock }) => (lock === undefined ? [`${name} (${adapter})`] : [])),
    locks: loadBalancers.flatMap(({ name, lock }) => {
      if (lock === undefined) return []
      const { namespace, kubeconfig, context } = lock
      const elsewhere = [kubeconfig, context].filter((part) => part !== undefined).join(', ')
      return [{ loadBalancer: name, namespace, lease: documentLease(lock), ...(elsewhere === '' ? {} : { elsewhere }) }]
    }),
  }
}
