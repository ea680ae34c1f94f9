/* The English of `sluice webhook`: rules, and decisions about endpoints. */

export interface RulesSummary {
  readonly version: string
  readonly mode: 'enforce' | 'audit'
  readonly rules: readonly { readonly name: string; readonly effect: string; readonly reads: readonly string[] }[]
}

/** A line for the document, and a line for each rule. */
export function rulesSummaryWords({ version, mode, rules }: RulesSummary): string[] {
  const amount = rules.length === 0 ? 'no rule' : rules.length === 1 ? '1 rule' : `${rules.length} rules`
  const audit = mode === 'audit' ? '; mode audit: decisions change nothing' : ''
  return [
    `version ${version}: ${amount}${audit}`,
    ...rules.map(({ name, effect, reads }) => `  ${name}: ${effect}; reads ${reads.length === 0 ? 'nothing' : reads.join(', ')}`),
  ]
}

/** A warning of the webhook for a client of the API server. Kubernetes shows up to 256 characters. */
export type WebhookWarning =
  | { readonly code: 'decision-cut-off'; readonly afterMs: number }
  | { readonly code: 'decision-failed' }
  | { readonly code: 'decided'; readonly mode: 'enforce' | 'audit'; readonly short: string }

export function webhookWarningWords(warning: WebhookWarning): string {
  switch (warning.code) {
    case 'decision-cut-off':
      return `sluice: the rules took longer than ${warning.afterMs} ms, so that the endpoints are stored as they were written`
    case 'decision-failed':
      return 'sluice: the rules could not be evaluated, so that the endpoints are stored as they were written'
    case 'decided':
      return warning.mode === 'audit'
        ? `sluice: rules would have decided (${warning.short})`
        : `sluice: rules have decided (${warning.short})`
  }
}

interface State {
  readonly ready: boolean
  readonly serving: boolean
}

/** The fields of an explained decision that the words need. */
export interface ExplainedWords {
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly service?: string
  readonly ruleSet: string
  readonly mode: 'enforce' | 'audit'
  readonly total: number
  readonly againAt?: number
  readonly endpoints: readonly {
    readonly addresses: readonly string[]
    readonly pod?: { readonly name: string }
    readonly podUnseen?: true
    readonly wished: State
    readonly as: State | 'removed'
    readonly rule?: string
    readonly effect?: string
    readonly until?: number
    readonly rules: readonly {
      readonly rule: string
      readonly effect: string
      readonly says: 'no' | 'failed' | 'keeps-nothing' | 'yes'
      readonly problem?: string
      readonly read: readonly { readonly part: string; readonly value?: unknown; readonly problem?: string }[]
    }[]
  }[]
}

const LONGEST_VALUE = 200

/** The decision about one object: a line for it, and for each endpoint what is decided, by which rule, and what each rule says. */
export function explainedWords(explained: ExplainedWords): string[] {
  const { kind, namespace, name, service, ruleSet, mode, total, endpoints, againAt } = explained
  const of = service === undefined ? ', which names no Service' : ` of Service ${service}`
  const audit = mode === 'audit' ? ', mode audit: nothing is changed' : ''
  const amount = total === 1 ? '1 endpoint' : `${total} endpoints`
  return [
    `${kind} ${namespace}/${name}${of}: ${amount}; rules ${ruleSet}${audit}`,
    ...endpoints.flatMap(endpointWords),
    ...(againAt === undefined ? [] : [`looked at again at ${new Date(againAt).toISOString()}: a time in the rules ends then`]),
  ]
}

function endpointWords(endpoint: ExplainedWords['endpoints'][number]): string[] {
  const { addresses, pod, podUnseen, wished, as, rule, effect, until, rules } = endpoint
  const whose =
    pod === undefined ? ', without a pod' : ` of pod ${pod.name}${podUnseen ? ', which is not among the objects' : ''}`
  const kept = until === undefined ? '' : `, until ${new Date(until).toISOString()}`
  const now = as === 'removed' ? 'removed' : stateWords(as)
  const result =
    rule === undefined ? `${stateWords(wished)}, as it is wished: no rule decides` : `${now}, by rule ${rule} (${effect})${kept}`
  const wish = rule === undefined || now === stateWords(wished) ? '' : `; wished ${stateWords(wished)}`
  const decides = rules.findIndex((one) => one.rule === rule)
  return [
    `  ${addresses.join(', ')}${whose}: ${result}${wish}`,
    ...rules.flatMap((one, index) => ruleWords(one, index === decides, decides >= 0 && index > decides)),
  ]
}

function stateWords({ ready, serving }: State): string {
  if (ready) return serving ? 'ready' : 'ready and not serving'
  return serving ? 'serving and not ready' : 'not ready'
}

function ruleWords(
  { rule, says, problem, read }: ExplainedWords['endpoints'][number]['rules'][number],
  decides: boolean,
  isAfter: boolean,
): string[] {
  return [
    `    ${rule}: ${sayingWords(says, problem, decides, isAfter)}`,
    ...read.map((one) => `      ${one.part} ${valueWords(one)}`),
  ]
}

function sayingWords(says: string, problem: string | undefined, decides: boolean, isAfter: boolean): string {
  if (says === 'failed') return `has failed, and counts as not applying: ${problem}`
  if (says === 'keeps-nothing') return 'applies, and has nothing to keep'
  if (says === 'no') return 'does not apply'
  return decides ? 'applies, and decides' : isAfter ? 'applies too, after the rule that decides' : 'applies'
}

function valueWords({ value, problem }: { readonly value?: unknown; readonly problem?: string }): string {
  if (problem !== undefined) return `has no value: ${problem}`
  if (value === null) return 'is not there'
  const text = JSON.stringify(value) ?? ''
  return `= ${text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE - 1)}…` : text}`
}

export interface TouchedWords {
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly service: string
  readonly way: 'service' | 'object'
  readonly wrong: number
}

/** One object that a touch has rewritten, or would rewrite. */
export function touchWords(
  { kind, namespace, name, service, way, wrong }: TouchedWords,
  progress?: { done: number; of: number; failure: string | undefined },
): string {
  const by = way === 'service' ? `by an annotation of Service ${service}` : 'by an annotation of its own'
  const amount = wrong === 1 ? '1 endpoint is stored otherwise' : `${wrong} endpoints are stored otherwise`
  const line = `${kind} ${namespace}/${name}: ${amount}, rewritten ${by}`
  if (progress === undefined) return line
  const { done, of, failure } = progress
  return `${done}/${of} ${line}${failure === undefined ? '' : `: failed: ${failure}`}`
}

export function touchSummaryWords(summary: {
  objects: number
  touches: number
  done: number
  failed: number
  unjudged: number
  isDryRun: boolean
}): string {
  const { objects, touches, done, failed, unjudged, isDryRun } = summary
  const what = isDryRun
    ? `${touches} of ${objects} objects would be rewritten`
    : `${done - failed} of ${touches} objects are rewritten`
  const rest = unjudged === 0 ? '' : `; a rule decides about ${unjudged} endpoints by the request, so that these are not judged`
  return `${what}${rest}`
}
