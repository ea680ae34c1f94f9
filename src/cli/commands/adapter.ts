import { Option, type Command } from 'commander'
import { EXIT } from '../../library/exit-codes.ts'
import type { AdapterFlags } from '../arguments/flags.ts'
import type { CommandContext } from './context.ts'

export function registerAdapter(program: Command, context: CommandContext): void {
  program
    .command('adapter')
    .summary('list the adapters for load balancers, or describe one')
    .description(
      'Lists the adapters and presets that `adapter` of a config may name, or describes the options of one. NAME may be a plugin of your own: npm:NAME, or a path that begins with ./.',
    )
    .argument('<what>', 'list, or describe')
    .argument('[name]', 'the adapter that is described')
    .option('--config <file>', 'config file, from whose folder a plugin is found (default: the working directory)')
    .addOption(new Option('-o, --output <format>', 'what goes to stdout').choices(['text', 'json']).default('text'))
    .addHelpText(
      'after',
      `
Examples:
  ${context.invocation.program} adapter list
  ${context.invocation.program} adapter describe haproxy
  ${context.invocation.program} adapter describe ./lb.mjs

Exit codes:
  0 printed    2 wrong arguments, or there is no such adapter
`,
    )
    .action(async (what: string, name: string | undefined, flags: AdapterFlags) => {
      const { adapterAction } = await import('../actions/adapter-action.ts')
      context.onDone(await adapterAction(what, name, flags, context), EXIT.failed)
    })
}
