import { Option, type Command } from 'commander'
import { EXIT } from '../../library/exit-codes.ts'
import type { SyncConfigFlags, SyncFlags, SyncStatusFlags } from '../arguments/flags.ts'
import type { CommandContext } from './context.ts'
import { addColorFlag, addOutputFlags, given, namespaceName } from './flag-groups.ts'

const LEASE = 'sluice-sync'
const REQUEST_TIMEOUT = 'for each call to an API server (default: 15s; 0 is the default too)'

export function registerSync(program: Command, context: CommandContext): void {
  const name = `${context.invocation.program} sync`
  const command = program
    .command('sync')
    .summary('copy the endpoints of Services from other clusters into this one')
    .description(
      'Copies the endpoints of the Services of the config from their source clusters into the access cluster, as EndpointSlices of Services ' +
        'without a selector. Runs until it gets a signal. Of several replicas, one leads and writes.',
    )
    // Options after `status` belong to it, and not to `sync`.
    .enablePositionalOptions()
  addConfig(command)
    .option('--lease <name>', `the Lease in the access cluster by which one of several replicas leads (default: ${LEASE})`, given)
    .option('--lease-namespace <name>', 'its namespace (default: that of the context, or of the pod)', namespaceName)
    .option('--no-lease', 'lead without a Lease: no other process may run with these Services')
    .option('--request-timeout <duration>', REQUEST_TIMEOUT)
    .optionsGroup('Metrics:')
    .option('--metrics-listen <address>', 'serve /metrics, /livez and /readyz at HOST:PORT, [IPV6]:PORT or :PORT', given)
    .option('--metrics-cert <file>', 'by HTTPS, with this certificate in PEM', given)
    .option('--metrics-key <file>', 'the key of the certificate', given)
  addOutputFlags(command, ['text', 'json'])
    .addHelpText(
      'after',
      `
Examples:
  ${name} check --config sync.yaml
  ${name} --config sync.yaml --metrics-listen :9464
  ${name} status --config sync.yaml

Exit codes:
  0 ended in order, by SIGTERM or Ctrl-C    1 sluice itself has failed    2 wrong arguments or config
  3 there is no way to the access cluster
`,
    )
    .action(async (flags: SyncFlags) => {
      const { syncAction } = await import('../actions/sync-action.ts')
      context.onDone(await syncAction({ ...flags, lease: flags.lease ?? LEASE }, context))
    })
  const check = command.command('check').description('Checks a config, and prints what it asks for. Reads no cluster.')
  addConfig(check).action(async (flags: SyncConfigFlags) => {
    const { syncCheckAction } = await import('../actions/sync-check-action.ts')
    context.onDone(await syncCheckAction(flags, context), EXIT.failed)
  })
  const status = command
    .command('status')
    .description(
      'Prints for each Service and source how many endpoints are copied and ready, and what is wrong. Reads all clusters of the config, and writes nothing.',
    )
  addConfig(status)
    .option(
      '--lease <name>',
      'the Lease of the sync that is meant, where several syncs have slices of the Services (default: that with the most)',
      given,
    )
    .option('--lease-namespace <name>', 'its namespace (default: that of the context)', namespaceName)
    .option('--within <duration>', 'the time that the clusters have to answer (default: 10s)')
    .option('--request-timeout <duration>', REQUEST_TIMEOUT)
  addColorFlag(addOutputFlags(status, ['text', 'json']))
    .addHelpText(
      'after',
      `
Exit codes:
  0 all copies are as they should be    1 something is wrong    2 wrong arguments or config
  3 there is no way to the access cluster
`,
    )
    .action(async (flags: SyncStatusFlags) => {
      const { syncStatusAction } = await import('../actions/sync-status-action.ts')
      context.onDone(await syncStatusAction(flags, context), EXIT.failed)
    })
}

function addConfig(command: Command): Command {
  return command.addOption(new Option('--config <file>', 'config file of the sync').default('sluice-sync.yaml').argParser(given))
}
