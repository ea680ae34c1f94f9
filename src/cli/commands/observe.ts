import { Option, type Command } from 'commander'
import { EXIT } from '../../library/exit-codes.ts'
import type { ObserveFlags, ReplayFlags } from '../arguments/flags.ts'
import type { CommandContext } from './context.ts'
import { addClusterFlags, addColorFlag, addOutputFlags, given } from './flag-groups.ts'

const STRICT = 'exit with 1 where there are findings'

export function registerObserve(program: Command, context: CommandContext): void {
  const name = `${context.invocation.program} observe`
  const command = program
    .command('observe')
    .summary('watch how changes of pods reach endpoints and load balancers')
    .description(
      'Watches pods, nodes, Services and their endpoints in one cluster or several, and the load balancers of the config; prints each change ' +
        'with its lag, and what is wrong. Ends at Ctrl-C, with a summary. Writes nothing.',
    )
    // Options after `replay` belong to it, and not to `observe`.
    .enablePositionalOptions()
    .option('-A, --all-namespaces', 'Services and pods of all namespaces')
    .option('--config <file>', 'config file (default: $SLUICE_CONFIG, else sluice.yaml where it is there)', given)
    .option('--for <duration>', 'end after so long')
    .option('--grace <duration>', 'for so long a stale address or entry is none (default: 10s)')
    .option('--poll <duration>', 'between two reads of a load balancer (default: 2s)')
    .option('--record <file>', 'write what is observed to a file, for replay', given)
    .option('--summary <duration>', 'print the summary so often, and not at the end alone')
    .option('--strict', STRICT)
    .optionsGroup('Metrics:')
    .option('--metrics-listen <address>', 'serve /metrics, /livez and /readyz at HOST:PORT, [IPV6]:PORT or :PORT', given)
    .option('--metrics-cert <file>', 'by HTTPS, with this certificate in PEM', given)
    .option('--metrics-key <file>', 'the key of the certificate', given)
    .option(
      '--controller-manager-metrics <url>',
      'such as https://HOST:10257/metrics: say with a backlog what its queue and its PUTs are; asked as the user of the context',
      given,
    )
    .option('--controller-manager-ca <file>', "what signs its certificate, in PEM (default: the kubeconfig's)", given)
    .option('--controller-manager-insecure', 'its certificate may be any: whoever answers there gets the token of the user')
  addColorFlag(addOutputFlags(command, ['text', 'json'])).option('--no-live', 'lines on a terminal too, and no screen')
  addClusterFlags(command, { several: true }).option(
    '--contexts <file>',
    'a file with a context a line, or - for stdin: of these too',
    given,
  )
  command
    .addHelpText(
      'after',
      `
Examples:
  ${name} -n shop
  ${name} -A --context east --context west --record incident.jsonl
  kubectl config get-contexts -o name | ${name} -A --contexts - --metrics-listen :9464
  ${name} -n shop --for 30s --strict -o json
  ${name} replay incident.jsonl

Exit codes:
  0 ended by --for or Ctrl-C    1 with --strict: there are findings; the recording is lost    2 wrong arguments or config
  3 there is no way to any cluster    143 SIGTERM
`,
    )
    .action(async (flags: ObserveFlags) => {
      const { observeAction } = await import('../actions/observe-action.ts')
      context.onDone(await observeAction(flags, context), EXIT.failed)
    })
  addColorFlag(
    command
      .command('replay')
      .description('Prints what a recording comes to: the same changes, findings and summary.')
      .argument('<file>', 'what --record has written')
      .option('--strict', STRICT)
      .addOption(new Option('-o, --output <format>', 'what goes to stdout').choices(['text', 'json']).default('text')),
  ).action(async (file: string, flags: ReplayFlags) => {
    const { replayAction } = await import('../actions/replay-action.ts')
    context.onDone(await replayAction(file, flags, context), EXIT.failed)
  })
}
