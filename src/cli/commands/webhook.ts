import { Option, type Command } from 'commander'
import { EXIT } from '../../library/exit-codes.ts'
import type { CheckRulesFlags, ExplainRulesFlags, ServeWebhookFlags, TouchWebhookFlags } from '../arguments/flags.ts'
import { WEBHOOK_NAMES } from '../../webhook/rights.ts'
import type { CommandContext } from './context.ts'
import { addClusterFlags, collect, given, namespaceName, namespaceNames } from './flag-groups.ts'

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
  ${name} explain rules.yaml --object slice.yaml --with pods.yaml
  ${name} serve --namespace shop --rules rules.yaml --tls-cert tls.crt --tls-key tls.key
  ${name} touch --namespace shop --rules rules.yaml --dry-run
  ${name} serve --namespace shop --rules configmap:sluice-system/endpoint-rules/rules.yaml --own-certificate

Exit codes:
  0 done    2 wrong arguments or rules
`,
    )
  registerCheck(webhook, context)
  registerExplain(webhook, context)
  registerServe(webhook, context)
  registerTouch(webhook, context)
}

function registerServe(webhook: Command, context: CommandContext): void {
  const command = webhook
    .command('serve')
    .description(
      'Serves the admission webhook: the API server asks it before each write of Endpoints and EndpointSlices. Every answer allows the write. ' +
        'Runs until a signal; logs JSON to stderr.',
    )
    .requiredOption('--namespace <name>', 'namespace that the webhook acts in, repeatable; rules cannot widen it', namespaceNames)
    .requiredOption('--rules <place>', 'a file, configmap:NAMESPACE/NAME/KEY, or a URL; followed while the webhook runs', given)
    .option('--listen <address>', 'HOST:PORT, [IPV6]:PORT or :PORT', given, ':8443')
    .option(
      '--own-namespace <name>',
      "namespace of the webhook itself (default: the context's, or that of the pod)",
      namespaceName,
    )
    .option('--lease <name>', 'the Lease by which one replica leads', given, WEBHOOK_NAMES.lease)
    .option('--leave <duration>', 'after a signal, not ready for so long before the server closes', given, '5s')
    .optionsGroup('Certificate:')
    .option('--tls-cert <file>', 'certificate in PEM; read anew when it changes', given)
    .option('--tls-key <file>', 'the key of the certificate', given)
    .option('--own-certificate', 'make and rotate a CA and a certificate, and keep the caBundle of the configuration right')
    .option('--certificate-secret <name>', 'the Secret of these, in the own namespace', given, WEBHOOK_NAMES.certificate)
    .option(
      '--configuration <name>',
      'the MutatingWebhookConfiguration that gets the caBundle',
      given,
      WEBHOOK_NAMES.configuration,
    )
    .option('--service <name>', 'the Service of the webhook, which the certificate names', given, 'sluice-webhook')
    .option('--certificate-host <name>', 'a further DNS name or IP address of the certificate, repeatable', collect)
    .optionsGroup('Rules:')
    .option('--rules-ca <file>', 'the CA of the URL, in PEM, in place of those of the system', given)
    .option('--rules-bearer <file>', 'a file with a token for the URL', given)
    .option('--rules-basic <file>', 'a file with USER:PASSWORD for the URL', given)
    .option('--rules-field <pointer>', 'the text in a JSON answer that is the document, such as /data/content', given)
    .option('--rules-key <file>', 'public keys in PEM, of which one has signed the rules', given)
    .option('--rules-cache <file>', 'keeps the last accepted rules over a restart', given)
    .optionsGroup('Metrics:')
    .option('--metrics-listen <address>', 'serve /metrics, /livez and /readyz at HOST:PORT, [IPV6]:PORT or :PORT', given)
    .option('--metrics-cert <file>', 'by HTTPS, with this certificate in PEM', given)
    .option('--metrics-key <file>', 'the key of the certificate', given)
    .optionsGroup('Output:')
    .option('-v, --verbose', 'log each request too (level debug, or SLUICE_LOG)')
  addClusterFlags(command, { namespaces: true }).action(async (flags: ServeWebhookFlags) => {
    const { serveWebhookAction } = await import('../actions/webhook-serve-action.ts')
    context.onDone(await serveWebhookAction(flags, context), EXIT.failed)
  })
}

function registerTouch(webhook: Command, context: CommandContext): void {
  const command = webhook
    .command('touch')
    .description(
      'Has endpoints rewritten that are stored otherwise than rules want them, at a rate. The webhook does so by itself while a replica of ' +
        'it leads.',
    )
    .addHelpText(
      'after',
      `
Exit codes:
  0 all objects are right or rewritten    1 a write failed; with --dry-run, there are objects to rewrite
  2 wrong arguments or rules    3 pods, Services or EndpointSlices cannot be read
`,
    )
    .requiredOption('--namespace <name>', 'namespace to look at, repeatable', namespaceNames)
    .option('--rules <file>', 'rewrite the objects that these rules want otherwise than they are stored', given)
    .option('--all', 'rewrite all objects that the controllers of Kubernetes make')
    .option('--rate <number>', 'writes a second', given, '5')
    .option('--dry-run', 'name the objects, and write nothing')
  addOutput(addClusterFlags(command, { namespaces: true })).action(async (flags: TouchWebhookFlags) => {
    const { touchWebhookAction } = await import('../actions/webhook-touch-action.ts')
    context.onDone(await touchWebhookAction(flags, context))
  })
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

function registerExplain(webhook: Command, context: CommandContext): void {
  const name = `${context.invocation.program} webhook explain`
  addOutput(
    webhook
      .command('explain')
      .description(
        'Tells for each endpoint of an EndpointSlice or Endpoints what the rules decide, by which rule, with what it has read, and what each other rule says. Asks no cluster: the objects come from files, as kubectl get -o yaml or -o json prints them.',
      )
      .argument('<rules>', 'the file of the rules')
      .requiredOption(
        '--object <file>',
        'the EndpointSlice or Endpoints, as its writer wishes it; a List may have several',
        given,
      )
      .option('--old <file>', 'the stored object that it replaces, for keepPrevious', given)
      .option('--with <file>', 'pods, nodes, Services and other EndpointSlices, repeatable', collect)
      .option('--at <time>', 'the time of the decision, such as 2026-11-30T10:00:00Z (default: now)', given),
  )
    .addHelpText(
      'after',
      `
Examples:
  kubectl get endpointslice web-x7k2p -n shop -o yaml > slice.yaml
  kubectl get service,pods -n shop -o yaml --show-managed-fields > shop.yaml
  kubectl get nodes -o yaml > nodes.yaml
  ${name} rules.yaml --object slice.yaml --with shop.yaml --with nodes.yaml

Exit codes:
  0 explained    2 wrong arguments, rules or objects
`,
    )
    .action(async (rules: string, flags: ExplainRulesFlags) => {
      const { explainRulesAction } = await import('../actions/webhook-explain-action.ts')
      context.onDone(await explainRulesAction(rules, flags, context))
    })
}

function addOutput(command: Command): Command {
  return command.addOption(new Option('-o, --output <format>', 'what goes to stdout').choices(['text', 'json']).default('text'))
}
