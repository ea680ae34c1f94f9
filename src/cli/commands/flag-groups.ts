import { InvalidArgumentError, Option, type Command } from 'commander'
import { fitsHeader } from '../../kube/header-value.ts'
import { quote } from '../../library/request/quote.ts'

export function collect(value: string, earlier: string[] | undefined): string[] {
  return [...(earlier ?? []), given(value)]
}

function collectAsked(value: string, earlier: string[] | undefined): string[] {
  return [...(earlier ?? []), asked(value)]
}

const NAMESPACE = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/

/** An invalid namespace would look like one where nothing is open. An unset variable gives an empty name. */
export function namespaceName(text: string): string {
  if (!NAMESPACE.test(text)) throw new InvalidArgumentError('No namespace has such a name.')
  return text
}

export function namespaceNames(text: string, earlier: string[] | undefined): string[] {
  return [...(earlier ?? []), namespaceName(text)]
}

/** An unset variable must not stand for the default, which may be another cluster or other rights. */
export function given(text: string): string {
  if (text === '') throw new InvalidArgumentError('It is empty: name one, or leave it out.')
  return text
}

/**
 * The value goes into an HTTP header. With a line break nothing would be sent, and the error would blame the cluster; blanks at the ends
 * would be lost.
 */
function asked(text: string): string {
  if (!fitsHeader(text)) throw new InvalidArgumentError('It has a line break, another control character, or a blank at an end.')
  return given(text)
}

/** With several selectors, only the last one would count, and pods would be left out without a message. */
function onlyOnce(selector: string, earlier: string | undefined): string {
  if (earlier === undefined) return selector
  const both = quote(`${earlier},${selector}`)
  throw new InvalidArgumentError(`It is given twice: -l ${both} asks for pods that match both.`)
}

/**
 * The flags of kubectl, by their names there. `several`: each context that is given adds a cluster. `namespaces`: the command has flags of
 * its own for namespaces.
 */
export function addClusterFlags(command: Command, { several = false, namespaces = false } = {}): Command {
  command.optionsGroup('Cluster:')
  if (!namespaces) command.option('-n, --namespace <name>', "namespace (default: the context's)", namespaceName)
  if (several) command.option('--context <name>', 'context of the kubeconfig, repeatable: all of them are meant', collect)
  else command.option('--context <name>', 'context of the kubeconfig', given)
  return command
    .option('--kubeconfig <file>', 'kubeconfig (default: $KUBECONFIG, else ~/.kube/config)', given)
    .option('--cluster <name>', 'cluster of the kubeconfig', given)
    .option('--user <name>', 'user of the kubeconfig', given)
    .option('--as <user>', 'impersonate this user', asked)
    .option('--as-group <group>', 'impersonate this group, repeatable', collectAsked)
    .option('--as-uid <uid>', 'impersonate this UID', asked)
    .option('--request-timeout <duration>', 'for each call to the API server (default: 15s; 0 is the default too)')
}

export function addOutputFlags(command: Command, formats: readonly string[]): Command {
  return command
    .optionsGroup('Output:')
    .addOption(new Option('-o, --output <format>', 'what goes to stdout').choices(formats).default('text'))
    .option('-v, --verbose', 'log to stderr (level debug, or SLUICE_LOG)')
}

export function addColorFlag(command: Command): Command {
  return command.addOption(new Option('--color <when>', 'colour').choices(['auto', 'always', 'never']).default('auto'))
}

export function addReportFlag(command: Command): Command {
  return command.option('--report <file>', 'write a report of the run to FILE.html or FILE.json, repeatable', collect)
}

/** The request and its rollout, equal for `upgrade` and `plan`. */
export function addRequestFlags(command: Command): Command {
  command
    .argument('[arguments...]', 'TYPE/NAME of workloads and pods, CONTAINER=IMAGE of the images they shall run')
    .optionsGroup('What to upgrade:')
  addSelectorFlag(command)
  addPermissions(command)
  addRolloutFlags(command).addOption(
    new Option('--on-failure <action>', 'hold: a failed pod stays out; rollback: it goes back to its former images').choices([
      'hold',
      'rollback',
    ]),
  )
  return command
}

/** The flags that allow requests which sluice otherwise refuses. */
export function addPermissions(command: Command): Command {
  return command
    .option(
      '--accept-template-drift',
      "patch pods of a Deployment although its template then differs: a pod that is rescheduled comes back on the template's image",
    )
    .option('--allow-unbalanced', 'upgrade pods that no load balancer knows, without a drain')
    .option(
      '--retired-load-balancer <name>',
      'earlier runs used it and the config does not have it: it sends these pods no requests any more, repeatable',
      collect,
    )
}

/** The flags for the rollout of a run. */
export function addRolloutFlags(command: Command): Command {
  command
    .optionsGroup('How, in place of the config:')
    .option('--config <file>', 'config file (default: $SLUICE_CONFIG, else sluice.yaml)', given)
    .option('--max-unavailable <pods>', 'how many pods may be out of rotation at once: a number or a share such as 25%')
    .option('--ready-for <duration>', 'how long a restarted pod must stay ready before it is put back')
    .option('--drain-deadline <duration>', 'until nothing may be in flight any more')
    .addOption(
      new Option('--on-drain-deadline <action>', 'fail: put the untouched pod back; proceed: cut what is in flight').choices([
        'fail',
        'proceed',
      ]),
    )
  return addHomeDeadlines(command)
}

/** The deadlines until a patched pod is back in rotation. */
export function addHomeDeadlines(command: Command): Command {
  return command
    .option('--restart-deadline <duration>', "from the end of the pod's grace period until the new container runs")
    .option('--rollback-deadline <duration>', 'the same on the way back to the former images')
    .option('--ready-deadline <duration>', 'until the restarted pod is ready')
    .option('--restore-deadline <duration>', 'until the load balancers confirm that the pod is back')
}

/** The flags that choose a run, by its workloads. */
export function addOrderFlags(command: Command): Command {
  return addSelectorFlag(command.argument('[workloads...]', 'TYPE/NAME of workloads and pods that the run upgrades'))
}

function addSelectorFlag(command: Command): Command {
  return command.option('-l, --selector <selector>', 'pods by label, in place of names', onlyOnce)
}
