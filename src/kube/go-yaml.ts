import { type CollectionTag, parseAllDocuments, type ScalarTag, type Tags, YAMLError } from 'yaml'

/**
 * The first document of a YAML or JSON text as Go's reader gives it to Kubernetes clients (sigs.k8s.io/yaml): YAML 1.1, in which
 * `yes` is a boolean and `010` is 8; of two equal keys the last counts; a date is a text; `!!binary` is the text that it encodes.
 * Throws a YAMLError. `undefined` and `null` are what an empty text holds.
 */
export function parseGoYaml(text: string): unknown {
  const options = { version: '1.1', merge: true, uniqueKeys: false, logLevel: 'error', customTags: asInGo } as const
  const [document] = parseAllDocuments(withoutByteOrderMark(text), options)
  if (document === undefined || !('contents' in document)) return undefined
  const [error] = document.errors
  if (error !== undefined) throw error
  return document.toJS() as unknown
}

function withoutByteOrderMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}

const LEFT_OUT = ['timestamp', 'binary', 'omap', 'pairs', 'set']

function asInGo(tags: Tags): Tags {
  const kept = tags.filter((tag) => typeof tag !== 'string' && !LEFT_OUT.some((name) => tag.tag.endsWith(`:${name}`)))
  // Numbers to the base of 60 are texts in Go.
  const numbers = kept.filter((tag) => (tag as ScalarTag | (CollectionTag & { format?: string })).format !== 'TIME')
  return [...numbers, binary]
}

const binary: ScalarTag = {
  tag: 'tag:yaml.org,2002:binary',
  resolve(source, onError) {
    const bytes = decodeBase64(source)
    if (bytes === undefined) onError('!!binary value contains invalid base64 data')
    return bytes?.toString('utf8') ?? ''
  },
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** As Go has it: line breaks are passed over, a blank or a missing `=` is no base64. */
export function decodeBase64(text: string): Buffer | undefined {
  const oneLine = text.replaceAll(/[\r\n]/g, '')
  return BASE64.test(oneLine) ? Buffer.from(oneLine, 'base64') : undefined
}

/** Where and what, without the lines around it that the message of a YAML error quotes: they may hold a token. */
export function yamlMistake(error: unknown): string | undefined {
  if (!(error instanceof YAMLError)) return undefined
  const line = error.linePos?.[0].line
  return `${line === undefined ? '' : ` in line ${line}`}: ${error.code.toLowerCase().replaceAll('_', ' ')}`
}
