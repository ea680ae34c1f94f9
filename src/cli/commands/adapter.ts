import { Option, type Command } from 'commander'
import { EXIT } from '../../library/exit-codes.ts'
import type { AdapterFlags, NewAdapterFlags, ServeFlags, TestAdapterFlags } from '../arguments/flags.ts'
import type { CommandContext } from './context.ts'
import { collect, given } from './flag-groups.ts'

/** The list is repeated here, so that the help of a command loads no other module. */
export const LANGUAGES = ['ts', 'js', 'python', 'sh']

export function registerAdapter(program: Command, context: CommandContext): void {
  const name = `${context.invocation.program} adapter`
  const adapter = program
    .command('adapter')
    .summary('list and describe the adapters for load balancers; begin and test one of your own')
    .description(
      'Lists the adapters and presets that `adapter` of a config may name, describes the options of one, begins a plugin for a load balancer of your own, and tests one.',
    )
    .addHelpText(
      'after',
      `
Examples:
  ${name} list
  ${name} describe haproxy
  ${name} new my-lb --language python
  ${name} serve edge --listen 127.0.0.1:18000
  ${name} test --bed ./bed.mjs

Exit codes:
  0 done    1 test: a promise does not hold    2 wrong arguments or config, or there is no such adapter
  8 test: a server that it has drained could not be put back    130, 143 interrupted
`,
    )
  addOutput(adapter.command('list').description('Lists the adapters and presets, each with what it is for.')).action(
    async (flags: AdapterFlags) => {
      const { listAction } = await import('../actions/adapter-action.ts')
      context.onDone(await listAction(flags, context), EXIT.failed)
    },
  )
  addOutput(
    adapter
      .command('describe')
      .description(
        'Describes the options of an adapter. NAME may be a plugin of your own: npm:NAME, or a path that begins with ./.',
      )
      .argument('<name>', 'the adapter that is described')
      .option('--config <file>', 'config file, from whose folder a plugin is found (default: the working directory)'),
  ).action(async (described: string, flags: AdapterFlags) => {
    const { describeAction } = await import('../actions/adapter-action.ts')
    context.onDone(await describeAction(described, flags, context), EXIT.failed)
  })
  addOutput(
    adapter
      .command('new')
      .description(
        'Writes a plugin to begin with, its config, and a small load balancer to try it on. DIR is made; where it is there, it has to be empty.',
      )
      .argument('<dir>', 'the folder to write to')
      .addOption(
        new Option('--language <language>', 'ts and js are modules; python and sh are programs that get and give JSON')
          .choices(LANGUAGES)
          .makeOptionMandatory(),
      ),
  ).action(async (folder: string, flags: NewAdapterFlags) => {
    const { newAction } = await import('../actions/new-adapter-action.ts')
    context.onDone(await newAction(folder, flags, context))
  })
  adapter
    .command('serve')
    .summary('answer a product that fetches the document of a load balancer')
    .description(
      'Answers a product that fetches the document of a load balancer of the config: Envoy over xDS, as REST; Traefik by its http provider. Goes on until it gets a signal. The product keeps what it has fetched while nothing answers.',
    )
    .argument('<load-balancer>', 'its name in the config')
    .option('--config <file>', 'config file (default: $SLUICE_CONFIG, else sluice.yaml)')
    .addOption(new Option('--listen <address>', 'ADDRESS:PORT; port 0 is any that is free').default('127.0.0.1:18000'))
    .action(async (loadBalancer: string, flags: ServeFlags) => {
      const { serveAction } = await import('../actions/serve-action.ts')
      context.onDone(await serveAction(loadBalancer, flags, context))
    })
  addOutput(
    adapter
      .command('test')
      .description(
        'Tries on a load balancer of the config what sluice relies on, and says of each promise whether it holds: on one that --bed starts for the test, or on the one that the config names. Of that nothing is changed but what --expendable names, which is put back.',
      )
      .option('--config <file>', 'config file (default: $SLUICE_CONFIG, else sluice.yaml)', given)
      .option('--load-balancer <name>', 'which one of the config (default: the only one)', given)
      .option('--bed <file>', 'a module that starts a load balancer for the test, such as the bed.mjs of "adapter new"', given)
      .option('--target <address:port>', 'behind the load balancer, and only read (repeatable)', collect)
      .option('--expendable <address:port>', 'behind it, and drained and put back by the test (repeatable)', collect)
      .option('--break-connections', 'break connections of the adapter, by a proxy before the http:// URL of its options')
      .option('--without-lock', 'drain without the lock that the config gives: nobody else writes the document meanwhile'),
  )
    .addHelpText(
      'after',
      `
Examples:
  ${name} test --bed ./bed.mjs
  ${name} test --target 10.0.0.1:8080
  ${name} test --load-balancer edge --expendable 10.0.0.1:8080

Exit codes:
  0 all that could be tried holds    1 a promise does not hold    2 wrong arguments or config
  8 a server that was drained could not be put back: a person has to look    130, 143 interrupted, and put back
`,
    )
    .action(async (flags: TestAdapterFlags) => {
      const { testAction } = await import('../actions/test-adapter-action.ts')
      context.onDone(await testAction(flags, context))
    })
}

function addOutput(command: Command): Command {
  return command.addOption(new Option('-o, --output <format>', 'what goes to stdout').choices(['text', 'json']).default('text'))
}
