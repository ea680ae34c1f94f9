import { InvalidArgumentError, Option, type Command } from 'commander'
import { EXIT } from '../../library/exit-codes.ts'
import { quote } from '../../library/request/quote.ts'
import type { RbacFlags } from '../arguments/flags.ts'
import { type Purpose, PURPOSES } from '../arguments/purposes.ts'
import type { CommandContext } from './context.ts'
import { given, namespaceName } from './flag-groups.ts'

export function registerRbac(program: Command, context: CommandContext): void {
  program
    .command('rbac')
    .summary('print the rights that a run or another command needs, for kubectl apply')
    .description(
      'Prints a Role with the rights that a run needs, or what --for names, and no other, and its RoleBinding. Asks no cluster. Pods that are named or selected need the rights of what owns them too: name its kind.',
    )
    .argument('[workloads...]', 'TYPE of workloads, or TYPE/NAME of a single one (default: every kind)')
    .requiredOption('-n, --namespace <name>', 'namespace of the workloads', namespaceName)
    .option(
      '--service-account <name>',
      'NAME, or NAMESPACE:NAME of another namespace (default: sluice, or what deploy/ has for webhook and sync)',
      given,
    )
    .addOption(new Option('--user <name>', 'a user in its place').argParser(given).conflicts('serviceAccount'))
    .option(
      '--for <purposes>',
      `what it is to do, with commas: ${PURPOSES.join(', ')} (default: upgrade); some look at the whole cluster`,
      purposesIn,
    )
    .option('--orders', 'with upgrade: also what status, pause, resume and abort need')
    .option('--config <file>', 'config file, whose load balancers are to be named in it', given)
    .addHelpText(
      'after',
      `
Examples:
  ${context.invocation.program} rbac statefulset/web -n shop | kubectl apply -f -
  ${context.invocation.program} rbac sts ds -n shop --service-account ci:release --orders
  ${context.invocation.program} rbac -n shop --for explain,observe,doctor --user ann
  ${context.invocation.program} rbac -n shop --for webhook | kubectl apply -f -

Exit codes:
  0 printed    2 wrong arguments or config
`,
    )
    .action(async (args: string[], flags: RbacFlags) => {
      const { rbacAction } = await import('../actions/rbac-action.ts')
      context.onDone(await rbacAction(args, flags, context), EXIT.failed)
    })
}

function purposesIn(text: string, earlier: Purpose[] = []): Purpose[] {
  const named = text.split(',').map((part) => part.trim())
  const unknown = named.find((name) => !PURPOSES.some((one) => one === name))
  if (unknown !== undefined) throw new InvalidArgumentError(`${quote(unknown)} is none of ${PURPOSES.join(', ')}.`)
  return [...earlier, ...(named as Purpose[])]
}
