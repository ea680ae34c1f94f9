import type { SourceFault } from '../../webhook/sources/look.ts'
import type { RefusedDocument, RulesChange, RulesProblem, SignatureFault } from '../../webhook/sources/rules-source.ts'

/* The English of the live rules of the webhook: a line for each change, with the mistakes of a document in further lines. */

const LACKS = {
  file: 'there is no such file',
  'config-map': 'there is no such ConfigMap',
  key: 'the ConfigMap has no such key',
  document: 'the server has no such document',
}
const SIGNATURE: Readonly<Record<SignatureFault, string>> = {
  none: 'its last line is no signature',
  wrong: 'its signature is not one of the key over these bytes',
  unnumbered: 'its metadata.version is no whole number, which a signed document needs',
  older: 'its number is below that of the rules in force',
  reused: 'other rules of this number are in force: each document needs a new one',
}
const MOST_MISTAKES = 20

function faultWords(fault: SourceFault): string {
  switch (fault.code) {
    case 'unreadable':
    case 'no-answer':
      return fault.said
    case 'timeout':
      return `no whole answer within ${fault.afterMs / 1000}s`
    case 'distrusted':
      return `its certificate is not trusted: ${fault.said}`
    case 'status':
      return `the server answers ${fault.status}`
    case 'redirect':
      return `the server answers ${fault.status}, and redirects are not followed`
    case 'encoded':
      return `the answer has the encoding ${fault.encoding}, which the request does not accept`
    case 'no-field':
      return `the answer is no JSON with a text at ${fault.field}`
    case 'credential':
      return `${fault.file} cannot be used: ${fault.said}`
    case 'api-refused':
      return `the API server refuses: ${fault.said}`
  }
}

function refusedWords(refused: RefusedDocument): string {
  if (refused.code === 'signature-refused') return `the document ${refused.hash} is refused: ${SIGNATURE[refused.because]}`
  const shown = refused.mistakes.slice(0, MOST_MISTAKES).map(({ path, message, hint, line }) => {
    const place = [...(line > 0 ? [`line ${line}`] : []), ...(path === '' ? [] : [path])].join(', ')
    return `\n  ${place === '' ? '' : `${place}: `}${message}${hint === undefined ? '' : `: ${hint}`}`
  })
  const more = refused.mistakes.length - shown.length
  return `the document ${refused.hash} has mistakes:${shown.join('')}${more > 0 ? `\n  and ${more} more` : ''}`
}

export function rulesProblemWords(problem: RulesProblem): string {
  switch (problem.code) {
    case 'source-away':
      return `the source cannot be read: ${faultWords(problem.fault)}`
    case 'document-missing':
      return LACKS[problem.lacks]
    case 'document-too-large':
      return `the document has more than ${problem.limitBytes} bytes`
    case 'rules-flap': {
      const documents = problem.documents.map(({ version, hash }) => `${version} (${hash})`)
      return `the source shows ${documents.join(' and ')} in turn within ${problem.withinMs / 60_000} minutes, and each comes into force`
    }
    case 'cache-unusable':
      return `the cache cannot be used: ${problem.said}`
    case 'cache-refused':
      return `the cached document is of no use: ${refusedWords(problem.because)}`
    case 'cache-foreign':
      return `the cache is of no use: it holds rules of ${problem.of ?? 'a source that it does not name'}`
    default:
      return refusedWords(problem)
  }
}

/** A line for a change. */
export function rulesChangeWords(change: RulesChange): string {
  switch (change.code) {
    case 'rules-accepted': {
      const where = change.from === 'cache' ? ' from the cache' : ''
      return `rules ${change.version}${where} are in force${change.replaced === undefined ? '' : `, in place of ${change.replaced}`}`
    }
    case 'rules-problem':
      return `rules: ${rulesProblemWords(change.problem)}`
    case 'rules-problem-over':
      return `rules ${change.version} are what the source shows again`
    case 'rules-etag-wrong':
      return 'rules: the server gave one ETag to different documents: its ETags are not used any more'
  }
}
