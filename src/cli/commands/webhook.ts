import { Option, type Command } from 'commander'
import type { CheckRulesFlags } from '../arguments/flags.ts'
import type { CommandContext } from './context.ts'

export function registerWebhook(program: Command, context: CommandContext): void {
  const name = `${context.invocation.program} webhook`
  const webhook = program
    .command('webhook')
    .summary('decide by rules which endpoints are ready')
    .description('Decides by rules which endpoints of EndpointSlices and Endpoints are ready, as an admission webhook.')
    .addHelpText(
      'after',
      `
Examples:
  ${name} check rules.yaml

Exit codes:
  0 done    2 wrong arguments or rules
`,
    )
  registerCheck(webhook, context)
}

function registerCheck(webhook: Command, context: CommandContext): void {
  addOutput(
    webhook
      .command('check')
      .description('Checks a document of rules, and names all its mistakes. Asks no cluster.')
      .argument('<rules>', 'the file of the rules'),
  ).action(async (rules: string, flags: CheckRulesFlags) => {
    const { checkRulesAction } = await import('../actions/webhook-rules-actions.ts')
    context.onDone(await checkRulesAction(rules, flags, context))
  })
}

function addOutput(command: Command): Command {
  return command.addOption(new Option('-o, --output <format>', 'what goes to stdout').choices(['text', 'json']).default('text'))
}
