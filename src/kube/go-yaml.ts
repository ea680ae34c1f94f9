import { type CollectionTag, parseAllDocuments, type ScalarTag, type Tags, YAMLError } from 'yaml'

/**
 * The first document of a YAML or JSON text as Kubernetes clients read it (sigs.k8s.io/yaml): YAML 1.1, in which `yes` is a boolean and
 * `010` is 8; the last of equal keys counts; a date is text; `!!binary` is the decoded text. Throws a YAMLError. An empty text gives
 * `undefined` or `null`.
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
  // Numbers in base 60 are text in Go.
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

/** Decodes base64 as Go does: line breaks are ignored, and blanks or missing padding are an error. */
export function decodeBase64(text: string): Buffer | undefined {
  const oneLine = text.replaceAll(/[\r\n]/g, '')
  return BASE64.test(oneLine) ? Buffer.from(oneLine, 'base64') : undefined
}

/** The position and the kind of a mistake. The quoted lines of the YAML error are left out, because they may contain a token. */
export function yamlMistake(error: unknown): string | undefined {
  if (!(error instanceof YAMLError)) return undefined
  const line = error.linePos?.[0].line
  return `${line === undefined ? '' : ` in line ${line}`}: ${error.code.toLowerCase().replaceAll('_', ' ')}`
}
